import assert from "node:assert/strict";
import { it } from "node:test";
import { assertGrowth } from "./growth.ts";

const pairs = (length: number): number => {
  let sum = 0;
  for (let a = 0; a < length; a += 1) for (let b = 0; b < length; b += 1) sum += a ^ b;
  return sum;
};
const steps = (length: number): number => {
  let sum = 0;
  for (let a = 0; a < 100 * length; a += 1) sum += a ^ length;
  return sum;
};

it("accepts linear growth, and rejects quadratic growth", () => {
  assertGrowth(steps, { sizes: [1000, 8000], atMost: 24 });
  assert.throws(
    () => assertGrowth(pairs, { sizes: [250, 4000], atMost: 24, name: "pairs" }),
    /^AssertionError.*: pairs takes \d{2,}\.\d times as long: \d+\.\d{3} ms of 250, \d+\.\d{3} ms of 4000$/,
  );
});
