/** Rows of the telemetry database as typed facts, with data of their session. */
import type { DatabaseSync } from "node:sqlite";
import type { CallFact, CompactionFact, StepFact, TurnFact } from "../events/facts.ts";

/** Milliseconds since the epoch: start inclusive, end exclusive. */
export interface Span {
  readonly since: number;
  readonly until: number;
}

export interface Place {
  readonly session: string;
  readonly project: string;
  readonly harness: string;
  /** The subagent that worked there; null in a person's session. */
  readonly agent: string | null;
}

interface Tables {
  readonly steps: StepFact & Place;
  readonly compactions: CompactionFact & Place;
  readonly turns: TurnFact & Place;
  readonly calls: CallFact & Place;
}

/** In time order. */
export function* readRows<Table extends keyof Tables>(
  database: DatabaseSync,
  table: Table,
  { since, until }: Span,
): Generator<Tables[Table]> {
  const statement = database.prepare(
    `select f.*, s.project, s.harness, s.agent from ${table} f join sessions s on s.id = f.session
     where f.at >= ? and f.at < ? order by f.at, f.session, f.seq`,
  );
  for (const row of statement.iterate(since, until)) yield row as unknown as Tables[Table];
}
