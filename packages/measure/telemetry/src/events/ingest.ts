/** Ingest: one pass over the logs that writes rows for new events only. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { isFailure, type SessionSummary, type Store } from "@lathe/protocol";
import type { Fact } from "./facts.ts";
import { emptyState, type FactState, takeEvent } from "./session-facts.ts";

export interface Ingested {
  /** Sessions read, and new events. */
  readonly sessions: number;
  readonly events: number;
  /** Logs that could not be read. */
  readonly unread: number;
}

/** Two events may have the same time: a log that changed this shortly before it was read is read again. */
const settledMs = 2_000;

const columns: Readonly<Record<Fact["table"], readonly string[]>> = {
  steps: "seq at turn model code class firstMs ms fresh cached written output cost calls".split(" "),
  compactions: "seq at turn model why before after isSummary code ms fresh cached written output cost".split(
    " ",
  ),
  calls: "seq at turn tool model end code class ms asked exitCode isTest shape".split(" "),
  turns:
    "seq at turn model ms waitedMs steps calls failedCalls retries failovers asked end code testMs cost".split(
      " ",
    ),
  reactions: "seq at turn model reaction saidAt".split(" "),
  exposures: "seq at experiment arm shares definition".split(" "),
  changes: "seq part at model tool path from before after".split(" "),
};

interface Writers {
  readonly facts: Readonly<Record<Fact["table"], StatementSync>>;
  readonly known: StatementSync;
  readonly note: StatementSync;
}

/** *Contract:* writes nothing into the store; may run beside another pass, and beside running sessions. */
export async function ingest(
  database: DatabaseSync,
  { store, now }: { readonly store: Store; readonly now: () => number },
): Promise<Ingested> {
  const writers = prepare(database);
  const listed = await store.list({});
  forget(database, listed);
  const total = { sessions: 0, events: 0, unread: 0 };
  for (const summary of listed) {
    const known = writers.known.get(summary.id);
    const isSettled = Number(known?.scannedAt) > summary.updatedAt + settledMs;
    if (known && isSettled && Number(known.updatedAt) === summary.updatedAt) continue;
    const scannedAt = now();
    const events = await store.read(summary.id);
    if (isFailure(events)) {
      total.unread += 1;
      continue;
    }
    total.sessions += 1;
    total.events += inTransaction(database, () => take(writers, { summary, events, scannedAt }));
  }
  return total;
}

function prepare(database: DatabaseSync): Writers {
  const statement = (table: Fact["table"]): StatementSync => {
    const names = ["session", ...columns[table]].map((name) => `"${name}"`);
    const places = names.map(() => "?").join();
    return database.prepare(`insert or replace into ${table} (${names.join()}) values (${places})`);
  };
  return {
    facts: {
      steps: statement("steps"),
      compactions: statement("compactions"),
      calls: statement("calls"),
      turns: statement("turns"),
      reactions: statement("reactions"),
      exposures: statement("exposures"),
      changes: statement("changes"),
    },
    known: database.prepare("select updatedAt, scannedAt, state from sessions where id = ?"),
    note: database.prepare("insert or replace into sessions values (?, ?, ?, ?, ?, ?, ?, ?, ?)"),
  };
}

interface Reading {
  readonly summary: SessionSummary;
  readonly events: Exclude<Awaited<ReturnType<Store["read"]>>, { type: "failure" }>;
  readonly scannedAt: number;
}

/** Inside the transaction: another pass may have added the same events meanwhile. */
function take(writers: Writers, { summary, events, scannedAt }: Reading): number {
  const { id, updatedAt } = summary;
  const known = writers.known.get(id);
  const state = known ? (JSON.parse(String(known.state)) as FactState) : emptyState();
  const fresh = events.slice(state.head);
  for (const event of fresh) {
    for (const { table, row } of takeEvent(state, event)) {
      const cells = row as unknown as Readonly<Record<string, string | number | boolean | null>>;
      writers.facts[table].run(id, ...columns[table].map((name) => cellOf(cells[name])));
    }
  }
  const { cwd, harness, agent, root, head } = state;
  writers.note.run(id, cwd, harness, agent, root, head, updatedAt, scannedAt, JSON.stringify(state));
  return fresh.length;
}

function cellOf(value: string | number | boolean | null | undefined): string | number | null {
  return typeof value === "boolean" ? Number(value) : (value ?? null);
}

/** A session that is no longer listed was deleted by its user, who may expect no trace of it. */
function forget(database: DatabaseSync, listed: readonly SessionSummary[]): void {
  const ids = new Set(listed.map(({ id }) => id));
  const gone = database
    .prepare("select id from sessions")
    .all()
    .map(({ id }) => String(id))
    .filter((id) => !ids.has(id));
  if (gone.length === 0) return;
  inTransaction(database, () => {
    for (const table of Object.keys(columns)) {
      const statement = database.prepare(`delete from ${table} where session = ?`);
      for (const id of gone) statement.run(id);
    }
    const statement = database.prepare("delete from sessions where id = ?");
    for (const id of gone) statement.run(id);
  });
}

function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec("begin immediate");
  try {
    const result = work();
    database.exec("commit");
    return result;
  } catch (error) {
    database.exec("rollback");
    throw error;
  }
}
