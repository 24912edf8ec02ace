/** Session trajectory: one session for programs that read the Agent Trajectory Interchange Format. */
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { type Trajectory, trajectoryOf } from "@lathe/telemetry/trajectory";
import { readSession } from "../history.ts";

export async function sessionTrajectory(
  env: Readonly<Record<string, string | undefined>>,
  id: string,
): Promise<Trajectory | Failure> {
  const events = await readSession(env, id);
  if (isFailure(events)) return events;
  return trajectoryOf(events) ?? failure("log-corrupt", `session ${id} has no beginning`);
}
