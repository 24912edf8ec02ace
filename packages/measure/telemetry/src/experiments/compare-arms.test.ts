import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { seededRandom } from "@lathe/protocol";
import { fc } from "@lathe/testkit/properties";
import { asymptoticMean, leastValues } from "./asymptotic-mean.ts";
import { boundedMean } from "./bounded-mean.ts";
import { compareArms } from "./compare-arms.ts";
import { contrastsOf } from "./contrasts.ts";
import {
  calledRate,
  lognormal,
  type SampleExperiment,
  sampled,
  sampleSessions,
} from "./sample-experiments.ts";
import { ratioAlpha, sampleRatio } from "./sample-ratio.ts";

const shares = { a: 0.5, b: 0.5 };
const doneRate = (control: number, treated: number): SampleExperiment => ({
  metric: "done",
  days: 30,
  perDay: 20,
  share: 0.5,
  value: (random, isTreated) => (random() < (isTreated ? treated : control) ? 1 : 0),
});
const verdictOf = (sample: SampleExperiment): string | undefined => {
  const sessions = sampleSessions(sample, seededRandom(4));
  return compareArms(sessions, { ...sampled, metric: sample.metric }).metric.differences[0]?.verdict;
};

describe("intervals", () => {
  it("of bounded values contain the true mean at every look, in at least 19 of 20 runs", () => {
    const random = seededRandom(11);
    let missed = 0;
    for (let run = 0; run < 300; run++) {
      const rate = [0.02, 0.3, 0.8][run % 3] ?? 0;
      const values = Array.from({ length: 200 }, () => (random() < rate ? 1 : 0));
      const { low, high } = boundedMean(values, 0.05);
      if (rate < low || rate > high) missed += 1;
    }
    assert.ok(missed <= 15, `${missed} of 300 missed`);
  });

  it("are between 0 and 1, around the mean, and never widen with more values", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 60 }), (values) => {
        const { low, high } = boundedMean(values, 0.05);
        assert.ok(0 <= low && low <= high && high <= 1);
        const before = boundedMean(values.slice(0, -1), 0.05);
        assert.ok(low >= before.low - 1e-9 && high <= before.high + 1e-9);
      }),
    );
    assert.deepEqual(boundedMean([], 0.05), { low: 0, high: 1 });
  });

  it("of values without bounds are absent for few values, and narrow around the mean of many", () => {
    const random = seededRandom(3);
    const values = Array.from({ length: 4000 }, () => lognormal(random, 0.5));
    assert.equal(asymptoticMean(values.slice(0, leastValues - 1), 0.05), undefined);
    const { low, high } = asymptoticMean(values, 0.05) ?? assert.fail();
    const mean = Math.exp(0.125);
    assert.ok(low < mean && mean < high && high - low < 0.1, `${low} to ${high}`);
  });
});

it("contrasts average to the difference of the arms, whatever the shares, and respect their bound", () => {
  const random = seededRandom(5);
  for (const share of [0.5, 0.2]) {
    const units = Array.from({ length: 20_000 }, () => {
      const isTreated = random() < share;
      return { isTreated, share, value: random() < (isTreated ? 0.7 : 0.5) ? 1 : 0 };
    });
    const { values, bound } = contrastsOf(units);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    assert.ok(Math.abs(mean - 0.2) < 0.03, `${mean}`);
    assert.ok(values.every((value) => Math.abs(value) <= bound));
  }
});

describe("an experiment", () => {
  it("with equal arms is called in fewer than one of 20 runs, checked every day", () => {
    const rate = calledRate(doneRate(0.8, 0.8), 100, 17);
    assert.ok(rate <= 0.05, `${rate}`);
  });

  it("with different arms finds the better one, according to the metric", () => {
    assert.equal(verdictOf(doneRate(0.6, 0.9)), "better");
    assert.equal(verdictOf(doneRate(0.9, 0.6)), "worse");
    const cost: SampleExperiment = {
      metric: "cost",
      days: 60,
      perDay: 20,
      share: 0.5,
      value: (random, isTreated) => lognormal(random, 0.8) * (isTreated ? 0.6 : 1),
    };
    assert.equal(verdictOf(cost), "better");
  });

  it("reports too little data until it can exclude a relevant difference", () => {
    assert.equal(verdictOf({ ...doneRate(0.8, 0.8), days: 1 }), "not enough data");
    assert.equal(verdictOf({ ...doneRate(0.8, 0.8), days: 5 }), "not enough data");
    assert.equal(verdictOf({ ...doneRate(0.8, 0.8), days: 200 }), "no difference seen");
    const few = { ...doneRate(0.8, 0.8), metric: "cost" as const, value: () => 1, days: 3 };
    assert.equal(verdictOf(few), "not enough data");
    const nothing = compareArms([], sampled);
    assert.deepEqual([nothing.sessions, nothing.metric.differences[0]?.verdict], [0, "not enough data"]);
  });

  it("omits sessions of other definitions, and those whose window is still open", () => {
    const [one, two, ...rest] = sampleSessions(doneRate(0.5, 0.5), seededRandom(1));
    assert.ok(one && two);
    const { values: _, ...pending } = two;
    const found = compareArms([{ ...one, definition: "old" }, pending, ...rest], sampled);
    assert.deepEqual([found.sessions, found.pending, found.others], [rest.length, 1, 1]);
  });
});

describe("the sample ratio", () => {
  const drawn = (n: number, share: number, seed: number) => {
    const random = seededRandom(seed);
    return Array.from({ length: n }, () => ({ arm: random() < share ? "b" : "a", shares }));
  };

  it("holds if the arms get their shares, and breaks if they do not", () => {
    const broken = Array.from({ length: 400 }, (_, seed) => sampleRatio(drawn(300, 0.5, seed)).isBroken);
    assert.ok(broken.filter((one) => one).length <= 2);
    assert.ok(sampleRatio(drawn(600, 0.65, 1)).isBroken);
    assert.ok(sampleRatio([{ arm: "c", shares }]).isBroken, "an arm that nobody should get");
    assert.ok(sampleRatio([]).p > ratioAlpha);
  });
});
