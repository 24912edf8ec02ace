/**
 * Fit difficulty: fits the two logistic steps to labelled tasks, by gradient descent with a penalty on large
 * weights.
 */
import { logistic, weigh } from "./difficulty.ts";
import type { Features } from "./text-features.ts";
import type { TaskClass, Weights } from "./weights.ts";

export interface Labelled {
  readonly features: Features;
  readonly task: TaskClass;
}

export type Difficulty = Pick<Weights, "beyondLight" | "hard">;

export interface FitOptions {
  /** A larger penalty keeps the weights closer to 0. */
  readonly penalty: number;
  readonly rounds: number;
}

/** *Contract:* deterministic; session features that no labelled task has get no weight. */
export function fitDifficulty(tasks: readonly Labelled[], options: FitOptions): Difficulty {
  const more = tasks.map(({ features, task }) => ({ features, y: task === "light" ? 0 : 1 }));
  const beyond = tasks.filter(({ task }) => task !== "light");
  const hard = beyond.map(({ features, task }) => ({ features, y: task === "hard" ? 1 : 0 }));
  return { beyondLight: fitLogistic(more, options), hard: fitLogistic(hard, options) };
}

interface Point {
  readonly features: Features;
  readonly y: number;
}

/** The constant has no penalty. */
function fitLogistic(
  points: readonly Point[],
  { penalty, rounds }: FitOptions,
): Readonly<Record<string, number>> {
  const names = [...new Set(points.flatMap(({ features }) => Object.keys(features)))].sort();
  const scale = scaleOf(points, names);
  let weights: Record<string, number> = { bias: 0 };
  for (let round = 0; round < rounds; round++) {
    const gradient = gradientOf(points, weights);
    const next: Record<string, number> = { bias: (weights.bias ?? 0) + (gradient.bias ?? 0) };
    for (const name of names) {
      const at = weights[name] ?? 0;
      const pull = (penalty * at) / points.length;
      next[name] = at + ((gradient[name] ?? 0) - pull) / (scale[name] ?? 1);
    }
    weights = next;
  }
  return Object.fromEntries(Object.entries(weights).map(([name, value]) => [name, Number(value.toFixed(3))]));
}

function gradientOf(
  points: readonly Point[],
  weights: Readonly<Record<string, number>>,
): Record<string, number> {
  const sum: Record<string, number> = { bias: 0 };
  for (const { features, y } of points) {
    const error = (y - logistic(weigh(features, weights))) / points.length;
    sum.bias = (sum.bias ?? 0) + error;
    for (const [name, value] of Object.entries(features)) sum[name] = (sum[name] ?? 0) + error * value;
  }
  return sum;
}

/** Large features take small steps, so that the descent is stable for any unit. */
function scaleOf(points: readonly Point[], names: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    names.map((name) => {
      const squares = points.reduce((sum, { features }) => sum + (features[name] ?? 0) ** 2, 0);
      return [name, Math.max(1, squares / points.length)];
    }),
  );
}
