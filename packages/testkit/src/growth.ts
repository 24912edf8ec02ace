/** How the cost of work grows with its size: told in one run, so it holds on any machine, whatever else runs there. */
import assert from "node:assert/strict";

export interface GrowthBound {
  /** The two sizes; the small one is to take at least some 0.1 ms. */
  readonly sizes: readonly [small: number, large: number];
  /** How many times as long the large one may take. */
  readonly atMost: number;
  readonly name?: string;
}

const rounds = 10;
/** The small one is so quick that a single one tells little: it may be interrupted, or run before its code is optimised. */
const smallOnes = 5;

/**
 * Asserts that `work` of the large size takes at most so many times as long as of the small one; returns how many times
 * it did. Of each size the soonest counts, in turn, until the bound holds: what interrupts a round is not the work's.
 */
export function assertGrowth(work: (size: number) => unknown, bound: GrowthBound): number {
  const [small, large] = bound.sizes;
  // Compiled before it counts: a small one that is slow for that would hide how much slower the large one is.
  work(large);
  const [ofSmall, ofLarge]: [number[], number[]] = [[], []];
  let ratio = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds && ratio > bound.atMost; round += 1) {
    for (let one = 0; one < smallOnes; one += 1) ofSmall.push(timeOf(() => work(small)));
    ofLarge.push(timeOf(() => work(large)));
    ratio = Math.min(...ofLarge) / Math.min(...ofSmall);
  }
  const times = `${Math.min(...ofSmall).toFixed(2)} ms of ${small}, ${Math.min(...ofLarge).toFixed(2)} ms of ${large}`;
  assert.ok(ratio <= bound.atMost, `${bound.name ?? "it"} takes ${ratio.toFixed(1)} times as long: ${times}`);
  return ratio;
}

/** Milliseconds that `work` takes. */
export function timeOf(work: () => unknown): number {
  const from = performance.now();
  work();
  return performance.now() - from;
}
