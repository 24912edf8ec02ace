/**
 * Measures in one run how the cost of work grows with its size, so it works on any machine under any load.
 */
import assert from "node:assert/strict";

export interface GrowthBound {
  /** The small and the large size. */
  readonly sizes: readonly [small: number, large: number];
  /** Maximum ratio of the large size's time to the small one's. */
  readonly atMost: number;
  readonly name?: string;
}

const rounds = 10;

/**
 * Asserts that `work` of the large size takes at most this many times as long as of the small one; returns
 * the ratio. The small size is repeated for as long as a large run takes, so that other load slows both
 * alike. The fastest run of each counts, in turn, until the bound holds.
 */
export function assertGrowth(work: (size: number) => unknown, bound: GrowthBound): number {
  const [small, large] = bound.sizes;
  // Compile before measuring: a slow first small run would hide how much slower the large one is.
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

/** Milliseconds per run over `ms`, with at least 2 runs: the first may include compilation. */
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
