/** Proposes what "always allow" may mean: the narrowest rules that would have covered a call. */
import type { Effect, Facts, Rule } from "@lathe/protocol";
import { evaluate, judgements } from "./evaluate.ts";

/** Empty where no rule of the user's could: another rule asks, or the target cannot be told. */
export function proposeRules(
  effects: readonly Effect[],
  facts: Facts,
  rules: readonly Rule[],
): readonly Rule[] {
  const asked = judgements(effects, facts, rules).filter(({ decision }) => decision.verdict !== "allow");
  if (asked.length === 0) return [];
  const proposed = asked.map(({ effect: { kind, target } }): Rule => {
    return {
      name: "always",
      verdict: "allow",
      kinds: [kind],
      target: target.replace(/[\\*?{}[\]]/gu, "\\$&"),
    };
  });
  const byMeaning = [
    ...new Map(proposed.map((rule) => [`${rule.kinds?.[0]} ${rule.target}`, rule])).values(),
  ];
  const covered = evaluate({ effects }, facts, [...rules, ...byMeaning]).verdict === "allow";
  return covered ? byMeaning : [];
}
