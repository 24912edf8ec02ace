import assert from "node:assert/strict";
import { it } from "node:test";
import { allSteps } from "./all-steps.ts";

it("takes every step in order, and throws the first error at the end", async () => {
  const taken: number[] = [];
  const failing = (step: number) => async () => {
    taken.push(step);
    throw new Error(`step ${step}`);
  };
  await assert.rejects(allSteps([failing(1), () => taken.push(2), failing(3)]), /step 1/);
  assert.deepEqual(taken, [1, 2, 3]);
});
