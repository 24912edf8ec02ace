/** Session metrics: what can be compared of the sessions of an experiment. */

/** What is counted from the logs alone. */
export type LoggedMetric =
  | "done"
  | "not-ended"
  | "trouble"
  | "failed-calls"
  | "cost"
  | "tokens"
  | "steps"
  | "time"
  | "approvals";

/** `lost-lines` also needs what was found of the lines later. */
export type SessionMetric = LoggedMetric | "lost-lines";

export interface MetricKind {
  /** Where its values are between 0 and 1, intervals hold for any number of sessions. */
  readonly isShare: boolean;
  readonly isBetter: "higher" | "lower";
}

export const metricKinds: Readonly<Record<SessionMetric, MetricKind>> = {
  done: { isShare: true, isBetter: "higher" },
  "not-ended": { isShare: true, isBetter: "lower" },
  trouble: { isShare: true, isBetter: "lower" },
  "lost-lines": { isShare: true, isBetter: "lower" },
  "failed-calls": { isShare: true, isBetter: "lower" },
  cost: { isShare: false, isBetter: "lower" },
  tokens: { isShare: false, isBetter: "lower" },
  steps: { isShare: false, isBetter: "lower" },
  time: { isShare: false, isBetter: "lower" },
  approvals: { isShare: false, isBetter: "lower" },
};
