/**
 * Sample experiments: artificial sessions of an experiment, a day's worth at a time, as the report sees them.
 */
import { seededRandom } from "@lathe/protocol";
import { type Compared, compareArms } from "./compare-arms.ts";
import { metricKinds, type SessionMetric } from "./session-metrics.ts";
import type { ExposedSession } from "./session-values.ts";

export interface SampleExperiment {
  readonly metric: SessionMetric;
  readonly days: number;
  readonly perDay: number;
  /** Share of arm `b`; the rest is `a`. */
  readonly share: number;
  readonly value: (random: () => number, isTreated: boolean) => number;
}

const zero = {
  done: 0,
  "not-ended": 0,
  trouble: 0,
  "lost-lines": 0,
  "failed-calls": 0,
  cost: 0,
  tokens: 0,
  steps: 0,
  time: 0,
  approvals: 0,
};

export const sampled: Compared = { arms: ["a", "b"], definition: "d", metric: "done", guardrails: [] };

export function sampleSessions(
  { metric, days, perDay, share, value }: SampleExperiment,
  random: () => number,
): readonly ExposedSession[] {
  return Array.from({ length: days * perDay }, (_, at) => {
    const isTreated = random() < share;
    const values = { ...zero, [metric]: value(random, isTreated) };
    const shares = { a: 1 - share, b: share };
    return { at, arm: isTreated ? "b" : "a", shares, definition: "d", values };
  });
}

/** Whether a daily reader ever sees the arm called better or worse. */
function isCalled(sample: SampleExperiment, random: () => number): boolean {
  const sessions = sampleSessions(sample, random);
  const compared = { ...sampled, metric: sample.metric };
  // An interval of shares never widens: an arm called at any look is still called at the last one.
  const first = metricKinds[sample.metric].isShare ? sample.days : 1;
  for (let day = first; day <= sample.days; day++) {
    const { metric } = compareArms(sessions.slice(0, day * sample.perDay), compared);
    const verdict = metric.differences[0]?.verdict;
    if (verdict === "better" || verdict === "worse") return true;
  }
  return false;
}

/** The share of experiments that are called at one of the daily looks. */
export function calledRate(sample: SampleExperiment, runs: number, seed: number): number {
  const random = seededRandom(seed);
  return Array.from({ length: runs }, () => isCalled(sample, random)).filter((one) => one).length / runs;
}

/** Box and Muller, 1958. */
export function lognormal(random: () => number, spread: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.exp(spread * normal);
}
