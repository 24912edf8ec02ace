/**
 * Runs properties with new random cases, five times as many. A failure becomes an example or a test of its
 * own.
 */
import base, { type IRawProperty, type Parameters } from "fast-check";

/** For tests that generate cases by other means. */
export const seed: number = Math.floor(Math.random() * 1e9);

const assertMore = ((property: IRawProperty<unknown>, params?: Parameters<unknown>) =>
  base.assert(property, { ...params, numRuns: 5 * (params?.numRuns ?? 100) })) as typeof base.assert;

export const fc: typeof base = { ...base, assert: assertMore };
