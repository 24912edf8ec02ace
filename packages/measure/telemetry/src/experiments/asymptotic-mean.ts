/**
 * Asymptotic mean: a confidence sequence for the mean of values without bounds, such as money and time.
 *
 * The asymptotic confidence sequence of I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy and A. Ramdas,
 * "Time-uniform central limit theory and asymptotic confidence sequences" (Annals of Statistics, 2024):
 * Robbins' normal mixture with an estimated variance. It extends the central limit theorem from one time to
 * all times after a first one, so there is no interval before that.
 */
import type { Interval } from "./bounded-mean.ts";

/** Minimum number of values for an interval. */
export const leastValues = 100;

/** The number of values at which the interval is narrowest. */
const tunedTo = 500;

/** Undefined if there are too few values. */
export function asymptoticMean(values: readonly number[], alpha: number): Interval | undefined {
  const n = values.length;
  if (n < leastValues) return undefined;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  const half = Math.sqrt(variance) * halfWidth(n, alpha);
  return { low: mean - half, high: mean + half };
}

/** For values with a standard deviation of 1. */
function halfWidth(n: number, alpha: number): number {
  const spent = -2 * Math.log(alpha);
  const rho = (spent + Math.log(spent) + 1) / tunedTo;
  const scale = n * rho + 1;
  return Math.sqrt(((2 * scale) / (n * n * rho)) * Math.log(Math.sqrt(scale) / alpha));
}
