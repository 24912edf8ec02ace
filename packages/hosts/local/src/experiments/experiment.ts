/** Experiment: arms that sessions are drawn to, and what is measured of them, as the user's configuration has it. */
import type { ArmSettings } from "@lathe/protocol";

/** What of a session can be compared; each is one number a session. */
export const experimentMetrics = [
  "done",
  "not-ended",
  "trouble",
  "lost-lines",
  "failed-calls",
  "cost",
  "tokens",
  "steps",
  "time",
  "approvals",
] as const;
export type ExperimentMetric = (typeof experimentMetrics)[number];

export interface Arm {
  readonly name: string;
  /** Relative to those of the other arms. */
  readonly weight: number;
  readonly set: ArmSettings;
}

export interface Experiment {
  readonly name: string;
  /** The first is what the others are compared with. */
  readonly arms: readonly Arm[];
  readonly metric: ExperimentMetric;
  /** What may not get worse. */
  readonly guardrails: readonly ExperimentMetric[];
}
