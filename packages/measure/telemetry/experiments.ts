/** @lathe/telemetry/experiments: what an experiment is, and which arm a session gets. */
export { assign, definitionOf, momentOf, stillAssigned } from "./src/experiments/assign.ts";
export { type Arm, type Experiment, experimentMetrics } from "./src/experiments/experiment.ts";
