/** Blocked call: the call that needed a person where nobody could be asked, and what lets it run. */
import { resolve } from "node:path";
import type { Decision, Effect, EffectKind, Event, Mode, ToolCallPart } from "@lathe/protocol";
import { callTarget } from "./render/call-target.ts";
import { fit } from "./render/fit.ts";

export interface BlockedCall {
  readonly call: ToolCallPart;
  readonly effects: readonly Effect[];
  readonly decision: Decision;
}

/** Finds it among the events of a run. */
export interface BlockedCalls {
  event(event: Event): void;
  latest(): BlockedCall | undefined;
}

export function watchBlockedCalls(): BlockedCalls {
  const calls = new Map<string, ToolCallPart>();
  let latest: BlockedCall | undefined;
  return {
    event: ({ type, data }) => {
      if (type === "step.completed") {
        for (const part of data.parts) if (part.type === "tool-call") calls.set(part.id, part);
      }
      if (type !== "permission.decided" || data.decision.verdict !== "ask") return;
      const call = calls.get(data.call);
      // The first one of an answer stopped the turn.
      if (call) latest ??= { call, effects: data.effects, decision: data.decision };
    },
    latest: () => latest,
  };
}

interface Place {
  readonly cwd: string;
  readonly mode: Mode;
  /** How the command is called here. */
  readonly lathe: string;
}

/** What was wanted, why it was not done, and how to go on. */
export function blockedText({ call, effects, decision }: BlockedCall, place: Place): string {
  const wanted = `${call.tool} ${fit(callTarget(call.input, effects), 200)}`.trim();
  const allow = allowFlags(decision.rule, effects, place);
  return `${wanted}: ${decision.why}. ${remedy(decision.rule, allow, place.lathe)}`;
}

function remedy(rule: string, allow: string | undefined, lathe: string): string {
  const goOn = `${lathe} run --continue`;
  switch (rule) {
    case "uncontained": {
      const ways = [...(allow === undefined ? [] : [`${goOn} ${allow}`]), `${goOn} --no-sandbox`];
      return `Install bubblewrap, or go on with: ${ways.join(", or ")}`;
    }
    case "ask-mode":
      return `Go on with: ${goOn} ${allow ?? "--permission-mode auto"}`;
    default:
      return allow === undefined
        ? `Go on at a terminal, where you are asked: ${goOn}`
        : `Go on with: ${goOn} ${allow}`;
  }
}

const everyChange: readonly EffectKind[] = ["write", "delete", "execute", "network", "vcs", "process"];

/** Effects that each rule speaks of. Rules that are not here ask whatever is allowed. */
const allowable: Readonly<Record<string, readonly EffectKind[]>> = {
  uncontained: ["execute", "process"],
  network: ["network"],
  irreversible: ["vcs"],
  sandbox: ["read", "write", "network"],
  "write-outside": ["write"],
  "delete-outside": ["delete"],
  "ask-mode": everyChange,
};
const mostFlags = 3;
const longestTarget = 120;

/** Undefined where no flag helps, or too many or too long ones would be needed. */
function allowFlags(rule: string, effects: readonly Effect[], { cwd, mode }: Place): string | undefined {
  if (!Object.hasOwn(allowable, rule)) return undefined;
  // Where every change asks, the next one would stop the next run.
  const kinds = mode === "ask" ? everyChange : allowable[rule];
  const asked = effects.filter(({ kind }) => kinds?.includes(kind));
  const globs = [...new Set(asked.map((effect) => globOf(effect, rule, cwd)))];
  const tooMuch = globs.some((glob) => glob.length > longestTarget || /\p{Cc}/u.test(glob));
  if (globs.length === 0 || globs.length > mostFlags || tooMuch) return undefined;
  return globs.map((glob) => `--allow '${glob.replaceAll("'", String.raw`'\''`)}'`).join(" ");
}

function globOf({ kind, target }: Effect, rule: string, cwd: string): string {
  const named = rule.endsWith("-outside") ? resolve(cwd, target) : target;
  const glob = named.replace(/[\\*?{}]/g, String.raw`\$&`);
  return kind === "execute" ? glob : `${kind}:${glob}`;
}
