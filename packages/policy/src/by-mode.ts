/** What each mode says of an effect that no rule speaks of. */
import type { Decision, Effect, Facts, PathFact, Verdict } from "@lathe/protocol";
import { isReadOnlyCommand } from "./read-only-command.ts";

/** `isCommand`: the call runs a command, which is not held to the workspace as the tools for files are. */
export function byMode(effect: Effect, facts: Facts, isCommand: boolean): Decision {
  const barred = isCommand ? undefined : barredDecision(effect, facts);
  if (barred) return barred;
  switch (facts.mode) {
    case "read-only":
    case "plan":
      return readingMode(effect, facts);
    case "ask":
      return askMode(effect, facts);
    case "auto":
      return autoMode(effect, facts);
  }
}

function readingMode(effect: Effect, facts: Facts): Decision {
  const { kind, target } = effect;
  if (kind === "read") return insideDecision;
  if (isOwnProcess(effect)) return decision("allow", "own-process", "it is a process of this session");
  if (kind === "execute" && isReadOnlyCommand(target)) return containedDecision(effect, facts);
  const text =
    facts.mode === "plan" ? "plan mode only reads: plan first, then switch modes" : "this mode only reads";
  return decision("deny", `${facts.mode}-mode`, text);
}

function askMode(effect: Effect, facts: Facts): Decision {
  const { kind, target } = effect;
  if (kind === "read") return insideDecision;
  if (isOwnProcess(effect)) return decision("allow", "own-process", "it is a process of this session");
  if (kind === "execute" && isReadOnlyCommand(target)) return containedDecision(effect, facts);
  return decision("ask", "ask-mode", `ask mode asks before ${doing[kind]}`);
}

function autoMode(effect: Effect, facts: Facts): Decision {
  const { kind, target } = effect;
  switch (kind) {
    case "read":
      return insideDecision;
    case "write":
    case "delete":
      return changeDecision(effect, facts);
    case "execute":
      return containedDecision(effect, facts);
    case "process":
      if (isOwnProcess(effect)) return decision("allow", "own-process", "it is a process of this session");
      return containedDecision(effect, facts);
    case "network":
      return decision("ask", "network", `it reaches ${target} over the network`);
    case "vcs":
      return decision("ask", "irreversible", `\`${target}\` changes shared work or cannot be undone`);
  }
}

const insideDecision: Decision = {
  verdict: "allow",
  rule: "read-inside",
  why: "it reads in the workspace",
};

/** What no answer could bring about: the tools for files reach the workspace only. */
function barredDecision({ kind, target }: Effect, { paths }: Facts): Decision | undefined {
  if (kind !== "read" && kind !== "write" && kind !== "delete") return undefined;
  const { inside = false, failure } = factOf(target, paths) ?? {};
  if (inside) return undefined;
  if (failure && failure.code !== "outside-workspace")
    return decision("deny", `${kind}-unreachable`, failure.text);
  return decision("deny", `${kind}-outside`, failure?.text ?? `${target} lies outside the workspace`);
}

function changeDecision({ kind, target, expansion }: Effect, { paths }: Facts): Decision {
  if (expansion === "unknown") {
    return decision("ask", "undecided-path", `it cannot be told beforehand what ${target} names`);
  }
  const fact = factOf(target, paths);
  if (fact?.inside) return decision("allow", `${kind}-inside`, "it changes files in the workspace");
  return decision("ask", `${kind}-outside`, fact?.failure?.text ?? `${target} lies outside the workspace`);
}

function containedDecision({ target }: Effect, facts: Facts): Decision {
  if (facts.containment !== "none") return decision("allow", "contained", "the sandbox holds it");
  if (facts.uncontainedAllowed)
    return decision("allow", "uncontained-allowed", "you chose to run without a sandbox");
  const short = target.length > 120 ? `${target.slice(0, 117)}...` : target;
  const why = `\`${short}\` would run with your own rights: no sandbox works on this machine`;
  const remedy = "`lathe doctor` says how to get one, `--no-sandbox` goes without";
  return decision("ask", "uncontained", `${why} (${remedy})`);
}

function factOf(target: string, paths: Facts["paths"]): PathFact | undefined {
  return Object.hasOwn(paths, target) ? paths[target] : undefined;
}

function isOwnProcess({ kind, target }: Effect): boolean {
  return kind === "process" && /^p\d+$/u.test(target);
}

const doing: Readonly<Record<Effect["kind"], string>> = {
  read: "reading",
  write: "writing files",
  delete: "deleting files",
  execute: "running commands",
  network: "using the network",
  vcs: "changing shared or irreversible state",
  process: "touching processes",
};

function decision(verdict: Verdict, rule: string, why: string): Decision {
  return { verdict, rule, why };
}
