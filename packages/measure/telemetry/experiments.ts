/** @lathe/telemetry/experiments: experiments, and the assignment of sessions to their arms. */
export { assign, definitionOf, momentOf, stillAssigned } from "./src/experiments/assign.ts";
export { type Arm, type Experiment, experimentMetrics } from "./src/experiments/experiment.ts";
