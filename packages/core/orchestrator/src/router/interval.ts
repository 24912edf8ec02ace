/** Intervals: a mean with its uncertainty, by resampling; the same data always gives the same numbers. */
import { seededRandom } from "@lathe/protocol";

export interface Interval {
  readonly mean: number;
  /** 95 % of resampled means are between these. */
  readonly low: number;
  readonly high: number;
}

const resamples = 1000;

/** For independent values; one value, or none, has no meaningful interval. */
export function intervalOf(values: readonly number[]): Interval {
  const { length } = values;
  if (length === 0) return { mean: Number.NaN, low: Number.NaN, high: Number.NaN };
  const random = seededRandom(length);
  const data = Float64Array.from(values);
  const means = Array.from({ length: resamples }, () => {
    let sum = 0;
    for (let i = 0; i < length; i++) sum += data[Math.floor(random() * length)] ?? 0;
    return sum / length;
  }).sort((a, b) => a - b);
  const at = (share: number): number => means[Math.round(share * (resamples - 1))] ?? Number.NaN;
  return { mean: data.reduce((a, b) => a + b, 0) / length, low: at(0.025), high: at(0.975) };
}
