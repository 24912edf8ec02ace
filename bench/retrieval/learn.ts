/**
 * Learns feature weights with a conditional logit, maximizing the share of the right files among the
 * candidates.
 */

/** The candidates of one query: the features of each, and whether it is right. */
export interface Example {
  readonly features: readonly (readonly number[])[];
  readonly isRight: readonly boolean[];
}

const rounds = 40;
const batch = 64;
const firstStep = 0.03;
const decay = 0.002;

/** *Contract:* returns the same weights for the same examples in the same order. */
export function learn(examples: readonly Example[], count: number): readonly number[] {
  const useful = examples.filter(({ isRight }) => isRight.includes(true) && isRight.includes(false));
  const { means, spreads } = scaleOf(useful, count);
  const scaled = useful.map(({ features, isRight }) => ({
    isRight,
    features: features.map((row) =>
      Float64Array.from(row, (x, at) => (x - (means[at] ?? 0)) / (spreads[at] ?? 1)),
    ),
  }));
  const weights = new Float64Array(count);
  const [first, second] = [new Float64Array(count), new Float64Array(count)];
  let step = 0;
  for (let round = 0; round < rounds; round++) {
    for (const some of batches(scaled)) {
      const slope = Float64Array.from(weights, (weight) => weight * decay);
      for (const one of some) addSlope(one, weights, slope);
      step++;
      const rate = firstStep * (1 - round / rounds);
      for (let at = 0; at < count; at++) {
        const g = slope[at] as number;
        first[at] = 0.9 * (first[at] as number) + 0.1 * g;
        second[at] = 0.99 * (second[at] as number) + 0.01 * g * g;
        const mean = (first[at] as number) / (1 - 0.9 ** step);
        const square = (second[at] as number) / (1 - 0.99 ** step);
        weights[at] = (weights[at] as number) - (rate * mean) / (Math.sqrt(square) + 1e-8);
      }
    }
  }
  return [...weights].map((weight, at) => weight / (spreads[at] ?? 1));
}

interface Scaled {
  readonly features: readonly Float64Array[];
  readonly isRight: readonly boolean[];
}

/** Strides through the examples, so that each batch has some of all repositories. */
function batches(examples: readonly Scaled[]): readonly (readonly Scaled[])[] {
  const count = Math.ceil(examples.length / batch);
  return Array.from({ length: count }, (_, at) => examples.filter((_example, n) => n % count === at));
}

function addSlope({ features, isRight }: Scaled, weights: Float64Array, slope: Float64Array): void {
  const scores = features.map((row) => row.reduce((sum, x, at) => sum + x * (weights[at] as number), 0));
  const most = Math.max(...scores);
  const shares = scores.map((score) => Math.exp(score - most));
  const all = shares.reduce((sum, share) => sum + share, 0);
  const right = shares.reduce((sum, share, at) => sum + (isRight[at] ? share : 0), 0) || 1e-300;
  features.forEach((row, n) => {
    const share = shares[n] as number;
    const pull = (share / all - (isRight[n] ? share / right : 0)) / batch;
    for (let at = 0; at < row.length; at++) slope[at] = (slope[at] as number) + pull * (row[at] as number);
  });
}

function scaleOf(
  examples: readonly Example[],
  count: number,
): { readonly means: readonly number[]; readonly spreads: readonly number[] } {
  const rows = examples.flatMap(({ features }) => features);
  const means = Array.from({ length: count }, (_, at) => mean(rows.map((row) => row[at] ?? 0)));
  const spreads = means.map(
    (middle, at) => Math.sqrt(mean(rows.map((row) => ((row[at] ?? 0) - middle) ** 2))) || 1,
  );
  return { means, spreads };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
