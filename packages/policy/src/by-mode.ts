/** What each mode says of an effect that no rule speaks of. */
import type { Decision, Effect, Facts, Verdict } from "@lathe/protocol";
import { isReadOnlyCommand } from "./read-only-command.ts";

export function byMode(effect: Effect, facts: Facts): Decision {
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
  if (kind === "read") return readDecision(target, facts);
  if (isOwnProcess(effect)) return decision("allow", "own-process", "it is a process of this session");
  if (kind === "execute" && isReadOnlyCommand(target)) return containedDecision(facts, "reading-command");
  const text =
    facts.mode === "plan" ? "plan mode only reads: plan first, then switch modes" : "this mode only reads";
  return decision("deny", `${facts.mode}-mode`, text);
}

function askMode(effect: Effect, facts: Facts): Decision {
  const { kind, target } = effect;
  if (kind === "read") return readDecision(target, facts);
  if (isOwnProcess(effect)) return decision("allow", "own-process", "it is a process of this session");
  if (kind === "execute" && isReadOnlyCommand(target)) return containedDecision(facts, "reading-command");
  return decision("ask", "ask-mode", `ask mode asks before ${doing[kind]}`);
}

function autoMode(effect: Effect, facts: Facts): Decision {
  const { kind, target } = effect;
  switch (kind) {
    case "read":
      return readDecision(target, facts);
    case "write":
    case "delete":
      return changeDecision(effect, facts);
    case "execute":
      return containedDecision(facts, "contained");
    case "process":
      if (isOwnProcess(effect)) return decision("allow", "own-process", "it is a process of this session");
      return containedDecision(facts, "contained");
    case "network":
      return decision("ask", "network", `it reaches ${target} over the network`);
    case "vcs":
      return decision("ask", "irreversible", `\`${target}\` changes shared work or cannot be undone`);
  }
}

function readDecision(target: string, facts: Facts): Decision {
  if (isInside(target, facts)) return decision("allow", "read-inside", "it reads in the workspace");
  return decision("ask", "read-outside", `${target} lies outside the workspace`);
}

function changeDecision({ kind, target }: Effect, facts: Facts): Decision {
  if (isUndecided(target)) {
    return decision("ask", "undecided-path", `it cannot be told beforehand what ${target} names`);
  }
  if (isInside(target, facts))
    return decision("allow", `${kind}-inside`, "it changes files in the workspace");
  return decision("ask", `${kind}-outside`, `${target} lies outside the workspace`);
}

function containedDecision(facts: Facts, rule: string): Decision {
  if (facts.containment !== "none") return decision("allow", rule, "the sandbox holds it");
  if (facts.uncontainedAllowed)
    return decision("allow", "uncontained-allowed", "you chose to run without a sandbox");
  return decision("ask", "uncontained", "there is no sandbox on this machine, so every command asks");
}

function isInside(target: string, { paths }: Facts): boolean {
  return !isUndecided(target) && Object.hasOwn(paths, target) && paths[target]?.inside === true;
}

/** A shell would still expand it, to something that policy cannot see. */
function isUndecided(target: string): boolean {
  return /[$`]|^~/u.test(target);
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
