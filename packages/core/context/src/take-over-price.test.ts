import assert from "node:assert/strict";
import { it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { takeOverPrice } from "./take-over-price.ts";

const dear = { window: 200_000, price: { input: 10, cached: 1, written: 12.5, output: 50 } };
const cheap = { window: 200_000, price: { input: 0.5, cached: 0.05, written: 0.5, output: 2 } };

it("offers a summary by a cheap model before an expensive one reads a long conversation", () => {
  const { whole, summed } = takeOverPrice(100_000, dear, cheap);
  assert.equal(whole, 1.25);
  assert.deepEqual(summed, { tokens: 17_500, cost: 0.05 + 0.004 + 17_500 * 12.5e-6 });
});

it("offers none by the expensive model before a cheap one reads, nor if a price is unknown", () => {
  assert.deepEqual(takeOverPrice(100_000, cheap, dear), { tokens: 100_000, whole: 0.05 });
  assert.deepEqual(takeOverPrice(100_000, { window: 1e5 }, cheap), { tokens: 100_000 });
  assert.deepEqual(takeOverPrice(1_000, dear, {}), { tokens: 1_000, whole: 0.0125 });
});

it("never offers a summary that is not cheaper", () => {
  const rates = fc.record({
    input: fc.double({ min: 0, max: 50, noNaN: true }),
    cached: fc.constant(0),
    written: fc.double({ min: 0, max: 60, noNaN: true }),
    output: fc.double({ min: 0, max: 100, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.nat(2_000_000), rates, rates, (tokens, to, by) => {
      const { whole = 0, summed } = takeOverPrice(tokens, { window: 1e6, price: to }, { price: by });
      assert.ok(!summed || summed.cost < whole);
    }),
  );
});
