/** Blocked call: the call that needed a person where nobody could be asked, and what lets it run. */

import { allowText } from "@lathe/config";
import type { Decision, Effect, Event, Rule, ToolCallPart } from "@lathe/protocol";
import { callTarget, fit } from "@lathe/terminal";

export interface BlockedCall {
  readonly call: ToolCallPart;
  readonly effects: readonly Effect[];
  readonly decision: Decision;
  /** What would have allowed it, and nothing else. */
  readonly proposed: readonly Rule[];
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
      if (!call) return;
      const { effects, decision, proposed = [] } = data;
      latest ??= { call, effects, decision, proposed };
    },
    latest: () => latest,
  };
}

/** What was wanted, why it was not done, and how to go on; `lathe` is how the command is called here. */
export function blockedText({ call, effects, decision, proposed }: BlockedCall, lathe: string): string {
  const wanted = `${call.tool} ${fit(callTarget(call.input, effects), 200)}`.trim();
  return `${wanted}: ${decision.why}. ${remedy(decision.rule, allowFlags(proposed), lathe)}`;
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

const maxFlags = 6;
const longestTarget = 300;

/** Undefined where no rule helps, or too many or too long ones would be needed. */
function allowFlags(rules: readonly Rule[]): string | undefined {
  const texts = rules.map(allowText);
  const tooMuch = texts.some((text) => text.length > longestTarget || /\p{Cc}/u.test(text));
  if (texts.length === 0 || texts.length > maxFlags || tooMuch) return undefined;
  return texts.map((text) => `--allow '${text.replaceAll("'", String.raw`'\''`)}'`).join(" ");
}
