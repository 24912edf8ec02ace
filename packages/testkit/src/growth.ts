/**
 * Measures in one run how the cost of work grows with its size, so it works on any machine under any load.
 */
import assert from "node:assert/strict";

export interface GrowthBound {
  /** Maximum ratio of the large size's time to the small one's. */
  readonly sizes: readonly [small: number, large: number];
  /** How many times as long the large one may take. */
  readonly atMost: number;
  readonly name?: string;
}

const rounds = 10;

/**
 * Asserts that `work` of the large size takes at most so many times as long as of the small one; returns how many times
 * it did. Small ones are done one after the other for as long as a large one takes: whatever else the machine does holds
 * both up alike. Of both the soonest counts, in turn, until the bound holds.
 */
export function assertGrowth(work: (size: number) => unknown, bound: GrowthBound): number {
  const [small, large] = bound.sizes;
  // Compiled before it counts: a small one that is slow for that would hide how much slower the large one is.
  work(large);
  let [ofSmall, ofLarge] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let ratio = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds && ratio > bound.atMost; round += 1) {
    const took = timeOf(() => work(large));
    ofLarge = Math.min(ofLarge, took);
    ofSmall = Math.min(
      ofSmall,
      timeOfEach(() => work(small), took),
    );
    ratio = ofLarge / ofSmall;
  }
  const times = `${ofSmall.toFixed(3)} ms of ${small}, ${ofLarge.toFixed(3)} ms of ${large}`;
  assert.ok(ratio <= bound.atMost, `${bound.name ?? "it"} takes ${ratio.toFixed(1)} times as long: ${times}`);
  return ratio;
}

/** Milliseconds that one takes, of as many as are done in `ms`, and 2 at least: the first may wait for its code. */
function timeOfEach(work: () => unknown, ms: number): number {
  const from = performance.now();
  let [done, past] = [0, 0];
  for (; done < 2 || past < ms; done += 1) {
    work();
    past = performance.now() - from;
  }
  return past / done;
}

/** Milliseconds that `work` takes. */
export function timeOf(work: () => unknown): number {
  const from = performance.now();
  work();
  return performance.now() - from;
}
