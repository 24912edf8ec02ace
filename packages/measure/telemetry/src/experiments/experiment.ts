/** Experiment: arms that sessions are assigned to, and their metrics, from the user's configuration. */
import type { ArmSettings } from "@lathe/protocol";
import { metricKinds, type SessionMetric } from "./session-metrics.ts";

/** Metrics for comparing sessions; each is one number per session. */
export const experimentMetrics = Object.keys(metricKinds) as readonly SessionMetric[];

export interface Arm {
  readonly name: string;
  /** Relative to those of the other arms. */
  readonly weight: number;
  readonly set: ArmSettings;
}

export interface Experiment {
  readonly name: string;
  /** The others are compared with the first. */
  readonly arms: readonly Arm[];
  readonly metric: SessionMetric;
  /** Metrics that must not get worse. */
  readonly guardrails: readonly SessionMetric[];
}
