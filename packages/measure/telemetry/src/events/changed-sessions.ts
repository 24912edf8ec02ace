/** Changed sessions: sessions in the telemetry database that changed files, and their changes. */
import type { DatabaseSync } from "node:sqlite";
import type { ChangeFact } from "./facts.ts";

export interface ChangedSession {
  readonly id: string;
  readonly project: string;
  readonly endedAt: number;
}

/** Ordered by the time they ended. */
export function readChangedSessions(facts: DatabaseSync): readonly ChangedSession[] {
  const rows = facts
    .prepare(
      "select id, project, updatedAt from sessions s where exists (select 1 from changes where session = s.id) order by updatedAt",
    )
    .all();
  return rows.map(({ id, project, updatedAt }) => ({
    id: String(id),
    project: String(project),
    endedAt: Number(updatedAt),
  }));
}

/** In the order they were made. */
export function readChanges(facts: DatabaseSync, session: string): readonly ChangeFact[] {
  const statement = facts.prepare("select * from changes where session = ? order by seq, part");
  return statement.all(session) as unknown as ChangeFact[];
}
