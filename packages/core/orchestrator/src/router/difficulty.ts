/** Difficulty: how likely a task is light, ordinary or hard, by two logistic steps over its features. */
import type { Odds } from "@lathe/protocol";
import type { Features } from "./text-features.ts";
import type { Tier, Weights } from "./weights.ts";
import { taskClasses } from "./weights.ts";

export function oddsOf(features: Features, weights: Pick<Weights, "beyondLight" | "hard">): Odds {
  const more = logistic(weigh(features, weights.beyondLight));
  const hard = more * logistic(weigh(features, weights.hard));
  return { light: 1 - more, ordinary: more - hard, hard };
}

export function weigh(features: Features, weights: Readonly<Record<string, number>>): number {
  let sum = weights.bias ?? 0;
  for (const name in features) sum += (features[name] ?? 0) * (weights[name] ?? 0);
  return sum;
}

export function logistic(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/**
 * The odds once a model of the tier has struggled: Bayes, allowing for an occasional meaningless struggle.
 */
export function afterStruggle(odds: Odds, tier: Tier, { quality }: Pick<Weights, "quality">): Odds {
  const struggles = 0.1;
  const light = odds.light * (1 - quality[tier].light + struggles);
  const ordinary = odds.ordinary * (1 - quality[tier].ordinary + struggles);
  const hard = odds.hard * (1 - quality[tier].hard + struggles);
  const sum = light + ordinary + hard;
  return { light: light / sum, ordinary: ordinary / sum, hard: hard / sum };
}

export function mixed(a: Odds, b: Odds, shareOfA: number): Odds {
  const of = (name: keyof Odds): number => a[name] * shareOfA + b[name] * (1 - shareOfA);
  return { light: of("light"), ordinary: of("ordinary"), hard: of("hard") };
}

/** The mean of a number per class. */
export function expected(odds: Odds, of: Odds): number {
  return taskClasses.reduce((sum, name) => sum + odds[name] * of[name], 0);
}
