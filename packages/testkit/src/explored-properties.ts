/**
 * Properties with other cases in each run, and five times as many: what they find becomes an example of its property, or
 * a test of its own.
 */
import base, { type IRawProperty, type Parameters } from "fast-check";

/** For tests that draw cases by other means. */
export const seed: number = Math.floor(Math.random() * 1e9);

const assertMore = ((property: IRawProperty<unknown>, params?: Parameters<unknown>) =>
  base.assert(property, { ...params, numRuns: 5 * (params?.numRuns ?? 100) })) as typeof base.assert;

export const fc: typeof base = { ...base, assert: assertMore };
