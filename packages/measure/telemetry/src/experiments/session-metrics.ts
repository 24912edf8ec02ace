/** Session metrics: the metrics for comparing sessions of an experiment. */

/** Metrics that need only the logs. */
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

/** `lost-lines` also needs later observations of the lines. */
export type SessionMetric = LoggedMetric | "lost-lines";

export interface MetricKind {
  /** If its values are between 0 and 1, intervals are valid for any number of sessions. */
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
