/** Session trajectory: one session and its subagents for programs that read the Agent Trajectory Interchange Format. */
import { type Failure, failure, isFailure } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import type { Trajectory } from "@lathe/telemetry/trajectory";
import { readSession } from "./stored-sessions.ts";

export async function sessionTrajectory(env: Env, id: string): Promise<Trajectory | Failure> {
  return withSubagents(env, id, new Set());
}

/** `above`: a log that names itself, or one that it is below, is not gone into again. */
async function withSubagents(
  env: Env,
  id: string,
  above: ReadonlySet<string>,
): Promise<Trajectory | Failure> {
  const events = await readSession(env, id);
  if (isFailure(events)) return events;
  const { subagentsOf, trajectoryOf } = await import("@lathe/telemetry/trajectory");
  const within = new Set([...above, id]);
  const subagents: Trajectory[] = [];
  for (const child of subagentsOf(events)) {
    const found = within.has(child) ? undefined : await withSubagents(env, child, within);
    // One that was deleted is left out.
    if (found && !isFailure(found)) subagents.push(found);
  }
  return trajectoryOf(events, subagents) ?? failure("log-corrupt", `session ${id} has no beginning`);
}
