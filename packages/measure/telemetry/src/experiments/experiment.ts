/** Experiment: arms that sessions are drawn to, and what is measured of them, as the user's configuration has it. */
import type { ArmSettings } from "@lathe/protocol";
import { metricKinds, type SessionMetric } from "./session-metrics.ts";

/** What can be compared of sessions; each is one number per session. */
export const experimentMetrics = Object.keys(metricKinds) as readonly SessionMetric[];

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
  readonly metric: SessionMetric;
  /** What may not get worse. */
  readonly guardrails: readonly SessionMetric[];
}
