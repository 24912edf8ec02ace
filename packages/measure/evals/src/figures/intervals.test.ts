/** Intervals match the theory and worked examples. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { bootstrapMean, comparePaired, passPower, signTest, wilson } from "./intervals.ts";

const near = (value: number | undefined, wanted: number, slack = 5e-4): void =>
  assert.ok(value !== undefined && Math.abs(value - wanted) < slack, `${value} is not near ${wanted}`);

it("gives Wilson's interval of worked examples", () => {
  const found = wilson(81, 263);
  near(found?.low, 0.2553);
  near(found?.high, 0.3662);
  near(wilson(0, 20)?.high, 0.1611);
  near(wilson(20, 20)?.low, 0.8389);
  assert.equal(wilson(0, 0), undefined);
});

it("keeps every share inside its interval, from 0 to 1", () => {
  fc.assert(
    fc.property(fc.nat(200), fc.nat(200), (solved, failed) => {
      const found = wilson(solved, solved + failed);
      if (!found) return solved + failed === 0;
      return 0 <= found.low && found.low <= found.value && found.value <= found.high && found.high <= 1;
    }),
  );
});

it("covers the true rate as often as promised", () => {
  const rate = 0.3;
  const trials = 40;
  let covered = 0;
  let chance = (1 - rate) ** trials;
  for (let solved = 0; solved <= trials; solved++) {
    const found = wilson(solved, trials);
    if (found && found.low <= rate && rate <= found.high) covered += chance;
    chance *= ((trials - solved) / (solved + 1)) * (rate / (1 - rate));
  }
  assert.ok(covered > 0.93 && covered < 0.98, String(covered));
});

it("counts pass^k as drawing k of the trials without replacement", () => {
  assert.equal(passPower(3, 3, 3), 1);
  assert.equal(passPower(2, 3, 3), 0);
  near(passPower(2, 4, 2), 1 / 6, 1e-12);
  assert.equal(passPower(1, 1, 2), undefined);
});

it("bootstraps the same interval each time, around the mean", () => {
  const values = [1, 0, 0.5, 1, 1, 0, 0.25, 1];
  const found = bootstrapMean(values);
  assert.deepEqual(bootstrapMean(values), found);
  assert.ok(found && found.low < found.value && found.value < found.high);
  assert.deepEqual(bootstrapMean([1, 1, 1]), { value: 1, low: 1, high: 1 });
  assert.equal(bootstrapMean([]), undefined);
});

it("tests discordant pairs exactly", () => {
  near(signTest(1, 8), 0.0390625, 1e-12);
  assert.equal(signTest(0, 0), 1);
  assert.equal(signTest(3, 3), 1);
});

it("uses McNemar's test for single trials, the bootstrap for shares", () => {
  const first = [0, 0, 0, 0, 0, 0, 1, 0, 0];
  const second = [1, 1, 1, 1, 1, 1, 0, 1, 1];
  const single = comparePaired(first, second);
  assert.equal(single?.method, "McNemar, exact");
  near(single?.p, 0.0390625, 1e-9);
  assert.deepEqual([single?.better, single?.worse], [8, 1]);
  const shares = comparePaired([0, 0.5, 0.5, 0], [1, 1, 1, 0.5]);
  assert.equal(shares?.method, "paired bootstrap over tasks");
  assert.ok(shares && shares.p < 0.01);
  assert.equal(comparePaired([], []), undefined);
});

it("finds no difference between a run and itself", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(0, 0.5, 1), { minLength: 1, maxLength: 12 }), (values) => {
      const found = comparePaired(values, values);
      return found?.p === 1 && found.difference.value === 0 && found.better + found.worse === 0;
    }),
    { numRuns: 20 },
  );
});
