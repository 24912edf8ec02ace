/**
 * Bounded mean: a confidence sequence for the mean of values between 0 and 1, valid at every look.
 *
 * The hedged capital process of I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables
 * by betting" (JRSS B, 2024), with their predictable plug-in bets: a bet against the true mean stays under
 * 1/alpha with probability 1 - alpha for ever (Ville), whatever the distribution, from the first value on.
 */

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The share of the capital that is never risked in one bet. */
const maxRisk = 0.75;

/** Values with the bet on each; a bet depends only on earlier values. */
interface Bets {
  readonly values: readonly number[];
  readonly sizes: readonly number[];
}

/** `values` are between 0 and 1, in the order of arrival. */
export function boundedMean(values: readonly number[], alpha: number): Interval {
  const bets = betsOn(values, alpha);
  const limit = Math.log(2 / alpha);
  const [low, high] = [
    edge((mean) => capitalAbove(bets, mean) >= limit),
    1 - edge((mean) => capitalBelow(bets, 1 - mean) >= limit),
  ];
  // If the values drift, every mean may be refuted.
  return low <= high ? { low, high } : { low: high, high: low };
}

function betsOn(values: readonly number[], alpha: number): Bets {
  const sizes: number[] = [];
  let [sum, squares, n] = [0.5, 0.25, 0];
  for (const value of values) {
    const variance = squares / (n + 1);
    sizes.push(Math.sqrt((2 * Math.log(2 / alpha)) / (variance * (n + 1) * Math.log(n + 2))));
    n += 1;
    sum += value;
    squares += (value - sum / (n + 1)) ** 2;
  }
  return { values, sizes };
}

/** Logarithm of the highest capital from betting on values above `mean`: it falls as `mean` rises. */
function capitalAbove({ values, sizes }: Bets, mean: number): number {
  return maxOf(values, (value, i) => Math.min(sizes[i] ?? 0, maxRisk / mean) * (value - mean));
}

function capitalBelow({ values, sizes }: Bets, mean: number): number {
  return maxOf(values, (value, i) => Math.min(sizes[i] ?? 0, maxRisk / (1 - mean)) * (mean - value));
}

function maxOf(values: readonly number[], gain: (value: number, i: number) => number): number {
  let [capital, most] = [0, 0];
  for (const [i, value] of values.entries()) {
    capital += Math.log1p(gain(value, i));
    if (capital > most) most = capital;
  }
  return most;
}

/** Number of halvings of the interval from 0 to 1. */
const halvings = 40;

/** Finds the border between refuted and unrefuted means in 0 to 1. */
function edge(isRefuted: (mean: number) => boolean): number {
  let [low, high] = [0, 1];
  for (let i = 0; i < halvings; i++) {
    const middle = (low + high) / 2;
    if (isRefuted(middle)) low = middle;
    else high = middle;
  }
  return low;
}
