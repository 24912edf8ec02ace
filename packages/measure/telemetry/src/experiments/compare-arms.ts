/**
 * Compare arms: the figures of each arm of an experiment, their differences to the first arm, and the
 * verdicts.
 */
import { asymptoticMean, leastValues } from "./asymptotic-mean.ts";
import { boundedMean, type Interval } from "./bounded-mean.ts";
import { contrastsOf, type Unit } from "./contrasts.ts";
import { type SampleRatio, sampleRatio } from "./sample-ratio.ts";
import { type MetricKind, metricKinds, type SessionMetric } from "./session-metrics.ts";
import type { ExposedSession } from "./session-values.ts";

/** The rate of false calls of an experiment's metric over all arms and all looks; also of each guardrail. */
export const experimentAlpha = 0.05;

export interface ArmFigures {
  readonly arm: string;
  readonly sessions: number;
  readonly mean?: number;
  /** Absent if there are too few sessions for a valid interval. */
  readonly interval?: Interval;
}

/** The verdict so far on the difference to the first arm. */
export type Verdict = "better" | "worse" | "no difference seen" | "not enough data";

export interface ArmDifference {
  readonly arm: string;
  readonly estimate?: number;
  readonly interval?: Interval;
  readonly verdict: Verdict;
}

export interface MetricResult extends MetricKind {
  readonly metric: SessionMetric;
  /** In the order of the configuration. */
  readonly arms: readonly ArmFigures[];
  /** Each other arm against the first. */
  readonly differences: readonly ArmDifference[];
}

export interface Comparison {
  readonly metric: MetricResult;
  readonly guardrails: readonly MetricResult[];
  readonly ratio: SampleRatio;
  /** Sessions whose window is over, and those whose window is open. */
  readonly sessions: number;
  readonly pending: number;
  /** Sessions of arms with another definition: they are left out. */
  readonly others: number;
}

export interface Compared {
  readonly arms: readonly string[];
  readonly definition: string;
  readonly metric: SessionMetric;
  readonly guardrails: readonly SessionMetric[];
}

type Exposed = Omit<ExposedSession, "values"> & Partial<Pick<ExposedSession, "values">>;
type Measured = Exposed & Pick<ExposedSession, "values">;

export function compareArms(all: readonly Exposed[], compared: Compared): Comparison {
  const own = all.filter(({ definition }) => definition === compared.definition);
  const over = own.filter((one): one is Measured => one.values !== undefined);
  const guardrails = compared.guardrails.filter((metric) => metric !== compared.metric);
  return {
    metric: resultOf(compared.metric, over, compared.arms),
    guardrails: guardrails.map((metric) => resultOf(metric, over, compared.arms)),
    // Includes all drawn sessions: their outcome does not matter here.
    ratio: sampleRatio(own),
    sessions: over.length,
    pending: own.length - over.length,
    others: all.length - own.length,
  };
}

function resultOf(
  metric: SessionMetric,
  sessions: readonly Measured[],
  arms: readonly string[],
): MetricResult {
  const kind = metricKinds[metric];
  const [control, ...others] = arms;
  const of = (arm: string): readonly number[] =>
    sessions.filter((one) => one.arm === arm).map(({ values }) => values[metric]);
  // Each of the other arms may be called: divide the error rate, so that together they keep it.
  const alpha = experimentAlpha / Math.max(1, others.length);
  return {
    metric,
    ...kind,
    arms: arms.map((arm) => figuresOf(arm, of(arm), kind)),
    differences: others.map((arm) => {
      const units = sessions
        .filter((one) => one.arm === arm || one.arm === control)
        .map((one) => unitOf(one, { arm, control: control ?? "", metric }));
      return differenceOf(arm, units, { kind, alpha });
    }),
  };
}

function figuresOf(arm: string, values: readonly number[], { isShare }: MetricKind): ArmFigures {
  const sessions = values.length;
  if (sessions === 0) return { arm, sessions };
  const mean = meanOf(values);
  const interval = isShare ? boundedMean(values, experimentAlpha) : asymptoticMean(values, experimentAlpha);
  return { arm, sessions, mean, ...(interval && { interval }) };
}

interface Pair {
  readonly arm: string;
  readonly control: string;
  readonly metric: SessionMetric;
}

function unitOf({ arm, shares, values }: Measured, pair: Pair): Unit {
  const [treated = 0, control = 0] = [shares[pair.arm], shares[pair.control]];
  return { isTreated: arm === pair.arm, share: treated / (treated + control), value: values[pair.metric] };
}

interface Judging {
  readonly kind: MetricKind;
  readonly alpha: number;
}

/** Minimum sessions in each of two arms for a verdict. */
const leastSessions = 20;

/** For values without bounds: in a rare arm each session weighs more. */
const rarest = 20;

function differenceOf(arm: string, units: readonly Unit[], { kind, alpha }: Judging): ArmDifference {
  const treated = units.filter(({ isTreated }) => isTreated).length;
  const least = Math.min(treated, units.length - treated);
  const { values, bound } = contrastsOf(units);
  if (least < leastSessions) return { arm, verdict: "not enough data" };
  const estimate = meanOf(values);
  const wanted = Math.max(leastValues, rarest * bound);
  const interval = kind.isShare
    ? boundedDifference(values, bound, alpha)
    : least >= wanted
      ? asymptoticMean(values, alpha)
      : undefined;
  if (!interval) return { arm, estimate, verdict: "not enough data" };
  const control = units.filter(({ isTreated }) => !isTreated).map(({ value }) => value);
  const tolerance = kind.isShare ? finePoints : fineShare * meanOf(control);
  return { arm, estimate, interval, verdict: verdictOf(interval, kind, tolerance) };
}

/** How narrow the interval must be on both sides before "no difference" is justified. */
const finePoints = 0.1;
const fineShare = 0.2;

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function boundedDifference(values: readonly number[], bound: number, alpha: number): Interval {
  const scaled = values.map((value) => (value + bound) / (2 * bound));
  const { low, high } = boundedMean(scaled, alpha);
  return { low: Math.max(-1, (2 * low - 1) * bound), high: Math.min(1, (2 * high - 1) * bound) };
}

function verdictOf({ low, high }: Interval, { isBetter }: MetricKind, tolerance: number): Verdict {
  if (low > 0) return isBetter === "higher" ? "better" : "worse";
  if (high < 0) return isBetter === "higher" ? "worse" : "better";
  return (high - low) / 2 <= tolerance ? "no difference seen" : "not enough data";
}
