/** @lathe/telemetry/trajectory: sessions for programs that read the Agent Trajectory Interchange Format. */
export { sessionTrajectory } from "./src/export/session-trajectory.ts";
export type { Trajectory } from "./src/export/trajectory.ts";
