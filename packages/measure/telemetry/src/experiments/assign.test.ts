/** A session's arm: drawn by a hash and the arms' weights, and kept while the experiment is unchanged. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { assign, stillAssigned } from "./assign.ts";
import type { Arm, Experiment } from "./experiment.ts";

const experiment = (name: string, arms: readonly Arm[]): Experiment => {
  return { name, arms, metric: "done", guardrails: ["cost"] };
};
const manner = "Speak like an old sailor.";
const short = experiment("short", [
  { name: "a", weight: 1, set: {} },
  { name: "b", weight: 1, set: { profile: { manner, maxOutput: 777 } } },
]);

describe("the arm of a session", () => {
  it("is always the same, and as frequent as its weight", () => {
    const three = experiment(
      "three",
      [1, 2, 5].map((weight) => ({ name: `w${weight}`, weight, set: {} })),
    );
    const counts = new Map<string, number>();
    for (let i = 0; i < 8000; i++) {
      const [one] = assign([three], `s${i}`);
      assert.deepEqual(assign([three], `s${i}`)[0], one);
      counts.set(one?.arm ?? "", (counts.get(one?.arm ?? "") ?? 0) + 1);
    }
    for (const weight of [1, 2, 5]) {
      const found = counts.get(`w${weight}`) ?? 0;
      assert.ok(Math.abs(found - 1000 * weight) < 130, `${found} of ${1000 * weight}`);
    }
  });

  it("is always one of them whatever the weights, and reports each one's share", () => {
    const weights = fc.array(fc.double({ min: 0.01, max: 1000, noNaN: true }), {
      minLength: 2,
      maxLength: 8,
    });
    fc.assert(
      fc.property(weights, fc.string(), (given, id) => {
        const arms = given.map((weight, i) => ({ name: `n${i}`, weight, set: {} }));
        const [found] = assign([experiment("x", arms)], id);
        assert.ok(found && Object.hasOwn(found.shares, found.arm));
        const sum = Object.values(found.shares).reduce((total, one) => total + one, 0);
        assert.ok(Math.abs(sum - 1) < 1e-9);
      }),
    );
  });

  it("is independent of the arm in another experiment", () => {
    const other = { ...short, name: "other" };
    const both = Array.from({ length: 2000 }, (_, i) => assign([short, other], `s${i}`));
    const same = both.filter(([one, two]) => one?.arm === two?.arm).length;
    assert.ok(Math.abs(same - 1000) < 100, `${same}`);
  });

  it("stays while its experiment is unchanged, in whatever order it is written", () => {
    const had = assign([short], "s1");
    assert.deepEqual(stillAssigned(had, [short]), had);
    assert.deepEqual(stillAssigned(had, []), []);
    const set = { profile: { maxOutput: 777, manner } };
    const again = short.arms.map((arm) => (arm.name === "b" ? { ...arm, set } : arm));
    assert.deepEqual(stillAssigned(had, [{ ...short, arms: again }]), had);
    const changed = short.arms.map((arm) => ({ ...arm, set: { summaryModel: "x/y" } }));
    assert.deepEqual(stillAssigned(had, [{ ...short, arms: changed }]), []);
  });
});
