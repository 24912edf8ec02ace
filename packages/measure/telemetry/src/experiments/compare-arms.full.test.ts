import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { calledRate, lognormal, type SampleExperiment } from "./sample-experiments.ts";

const runs = 5_000;
const same: Readonly<Record<string, SampleExperiment>> = {
  "a rate, half and half": {
    metric: "done",
    days: 60,
    perDay: 10,
    share: 0.5,
    value: (random) => (random() < 0.8 ? 1 : 0),
  },
  "money with a long tail, one in five": {
    metric: "cost",
    days: 60,
    perDay: 10,
    share: 0.2,
    value: (random) => lognormal(random, 1.2),
  },
};

describe("10,000 experiments with equal arms, checked every day", () => {
  for (const [name, sample] of Object.entries(same)) {
    it(`${name}: at most one in 20 is called`, (t) => {
      const rate = calledRate(sample, runs, 23);
      t.diagnostic(`${(100 * rate).toFixed(2)} % called`);
      assert.ok(rate <= 0.05, `${100 * rate} % called`);
    });
  }
});

describe("power, as the decision record promises", () => {
  const rates = (control: number, treated: number, sessions: number): SampleExperiment => ({
    metric: "done",
    days: sessions / 20,
    perDay: 20,
    share: 0.5,
    value: (random, isTreated) => (random() < (isTreated ? treated : control) ? 1 : 0),
  });
  it("70 % against 90 % is found within 600 sessions in 9 of 10 runs", () => {
    assert.ok(calledRate(rates(0.7, 0.9, 600), 200, 3) >= 0.9);
  });
  it("80 % against 90 % is found within 1,800 sessions in 8 of 10 runs", () => {
    assert.ok(calledRate(rates(0.8, 0.9, 1800), 100, 5) >= 0.8);
  });
  it("a cost that falls by 30 % is found within 600 sessions in 8 of 10 runs", () => {
    const sample: SampleExperiment = {
      metric: "cost",
      days: 30,
      perDay: 20,
      share: 0.5,
      value: (random, isTreated) => lognormal(random, 0.8) * (isTreated ? 0.7 : 1),
    };
    assert.ok(calledRate(sample, 200, 7) >= 0.8);
  });
});
