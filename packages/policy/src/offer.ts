/** The narrowest rules that would answer an ask for next time. */
import type { Effect, Facts, Rule } from "@lathe/protocol";
import { judgeEffect } from "./evaluate.ts";

/**
 * One allow rule per effect that asks; nothing when a rule itself asks, which no allow rule outweighs,
 * or when the effect cannot be named beforehand.
 */
export function offer(effects: readonly Effect[], facts: Facts, rules: readonly Rule[]): readonly Rule[] {
  const asking = effects.filter((effect) => judgeEffect(effect, facts, rules).verdict === "ask");
  const offered = asking.map((effect) => narrowest(effect, facts));
  const all = [...rules, ...offered];
  return asking.every((effect) => judgeEffect(effect, facts, all).verdict === "allow") ? offered : [];
}

/** A rule as one line for a person. */
export function offerText({ kinds, target }: Rule): string {
  return `allow ${kinds?.join(", ") ?? "everything"}${target === undefined ? "" : ` \`${target}\``}`;
}

function narrowest({ kind, target }: Effect, { paths }: Facts): Rule {
  const fact = paths[target];
  const name = fact && !fact.inside ? fact.real : target;
  const literal = name.replace(/[\\*?{}]/gu, "\\$&");
  return { name: `allowed ${kind} ${target}`, verdict: "allow", kinds: [kind], target: literal };
}
