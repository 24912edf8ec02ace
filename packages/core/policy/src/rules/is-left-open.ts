/**
 * Is left open: whether a call is asked about only because it is unclear, so that a second opinion may settle
 * it.
 */
import type { Effect, Facts, Rule } from "@lathe/protocol";
import { matches } from "../globs/match.ts";
import { judgeEffects } from "./evaluate.ts";

/** Reasons to ask that a full sandbox confines in any case. For all others, a person is asked. */
const open: ReadonlySet<string> = new Set(["network", "undecided", "undecided-path"]);
/** With one of these traits, no second opinion counts. */
const grave: ReadonlySet<string> = new Set([
  "irreversible",
  "shared",
  "history",
  "discards",
  "destroys",
  "secrets",
  "privilege",
]);

/** Never if any rule, a refusal, or the mode asks or denies. */
export function isLeftOpen(effects: readonly Effect[], facts: Facts, rules: readonly Rule[]): boolean {
  if (facts.mode !== "auto" || facts.containment !== "full" || (facts.refusals ?? []).length > 0)
    return false;
  if (effects.some(({ traits = [] }) => traits.some((trait) => grave.has(trait)))) return false;
  const against = rules.filter(({ verdict }) => verdict !== "allow");
  const asked = judgeEffects(effects, facts, rules).filter(({ decision }) => decision.verdict !== "allow");
  return (
    asked.length > 0 &&
    asked.every(
      ({ effect, decision }) =>
        decision.verdict === "ask" &&
        open.has(decision.rule) &&
        effect.kind !== "delete" &&
        !against.some((rule) => matches(rule, effect, facts)),
    )
  );
}
