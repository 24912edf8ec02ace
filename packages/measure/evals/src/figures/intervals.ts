/**
 * Intervals: the uncertainty of a share of successes, for single trials and for tasks tried several times.
 */
import { seededRandom } from "@lathe/protocol";

export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Quantile of the normal distribution, for 95 %. */
const z = 1.959963984540054;

/** Wilson's score interval for `successes` of `trials` (1927); undefined without a trial. */
export function wilson(successes: number, trials: number): Estimate | undefined {
  if (trials === 0) return undefined;
  const share = successes / trials;
  const scale = 1 + z ** 2 / trials;
  const middle = (share + z ** 2 / (2 * trials)) / scale;
  const half = (z * Math.sqrt((share * (1 - share)) / trials + z ** 2 / (4 * trials ** 2))) / scale;
  return {
    value: share,
    low: Math.min(share, Math.max(0, middle - half)),
    high: Math.max(share, Math.min(1, middle + half)),
  };
}

const resamples = 10_000;

/**
 * Percentile bootstrap of a mean over tasks (Efron 1979): trials of one task are not independent, tasks are. The same
 * numbers give the same interval.
 */
export function bootstrapMean(values: readonly number[]): Estimate | undefined {
  if (values.length === 0) return undefined;
  const means = resampledMeans(values);
  return { value: mean(values), low: quantile(means, 0.025), high: quantile(means, 0.975) };
}

/** Sorted. */
function resampledMeans(values: readonly number[]): readonly number[] {
  const random = seededRandom(0x5eed);
  const means: number[] = [];
  for (let i = 0; i < resamples; i++) {
    let sum = 0;
    for (let j = 0; j < values.length; j++) sum += values[Math.floor(random() * values.length)] ?? 0;
    means.push(sum / values.length);
  }
  return means.sort((a, b) => a - b);
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, one) => sum + one, 0) / values.length;
}

/**
 * The probability that `k` trials drawn from these all succeed: C(successes, k) / C(trials, k); undefined
 * with fewer than `k`.
 */
export function passPower(successes: number, trials: number, k: number): number | undefined {
  if (trials < k || k < 1) return undefined;
  let chance = 1;
  for (let i = 0; i < k; i++) chance *= Math.max(0, successes - i) / (trials - i);
  return chance;
}

export interface Paired {
  readonly method: "McNemar, exact" | "paired bootstrap over tasks";
  /** The second run's mean minus the first one's. */
  readonly difference: Estimate;
  /** Two-sided. */
  readonly p: number;
  /** Tasks on which the second run does better, and worse. */
  readonly better: number;
  readonly worse: number;
}

/** Compares two runs over the same tasks, by success per task from 0 to 1; undefined without a task. */
export function comparePaired(first: readonly number[], second: readonly number[]): Paired | undefined {
  const differences = second.map((value, at) => value - (first[at] ?? 0));
  const difference = bootstrapMean(differences);
  if (!difference) return undefined;
  const better = differences.filter((one) => one > 0).length;
  const worse = differences.filter((one) => one < 0).length;
  const isSingle = [...first, ...second].every((value) => value === 0 || value === 1);
  if (isSingle) return { method: "McNemar, exact", difference, p: signTest(better, worse), better, worse };
  const means = resampledMeans(differences);
  const below = means.filter((one) => one <= 0).length;
  const above = means.filter((one) => one >= 0).length;
  const p = Math.min(1, (2 * (Math.min(below, above) + 1)) / (resamples + 1));
  return { method: "paired bootstrap over tasks", difference, p, better, worse };
}

/**
 * Two-sided: the probability of such an uneven split with a fair coin; equals the exact McNemar test (1947).
 */
export function signTest(better: number, worse: number): number {
  const tosses = better + worse;
  const least = Math.min(better, worse);
  let chance = 0.5 ** tosses;
  let sum = 0;
  for (let i = 0; i <= least; i++) {
    sum += chance;
    chance *= (tosses - i) / (i + 1);
  }
  return Math.min(1, 2 * sum);
}
