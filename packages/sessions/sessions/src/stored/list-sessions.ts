/** History: reads sessions without owning them. */
import { type Event, type Failure, failure, isFailure, type SessionSummary } from "@lathe/protocol";
import type { SessionArchive } from "../host/session-archive.ts";

type Archive = Pick<SessionArchive, "stores">;

export interface SessionQuery {
  readonly cwd?: string;
  readonly limit?: number;
  /** Words that its title or name must contain, in any order and case. */
  readonly search?: string;
}

/** Newest first. */
export async function listSessions(
  { stores }: Archive,
  { search = "", limit, ...query }: SessionQuery,
): Promise<readonly SessionSummary[]> {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const { store } = stores;
  if (words.length === 0) return store.list({ ...query, ...(limit !== undefined && { limit }) });
  const found = (await store.list(query)).filter(({ title }) =>
    words.every((word) => title.toLowerCase().includes(word)),
  );
  return found.slice(0, limit);
}

/** The most recent session that a person started in the folder. */
export async function newestSession(archive: Archive, cwd: string): Promise<SessionSummary | undefined> {
  return (await listSessions(archive, { cwd })).find(({ agent }) => agent === undefined);
}

export function readSession({ stores }: Archive, id: string): Promise<readonly Event[] | Failure> {
  return stores.store.read(id);
}

/** A session's full ID from a prefix of it, or from all of it. */
export async function findSession(archive: Archive, start: string): Promise<string | Failure> {
  if (start === "") return failure("session-unknown", "the id of a session is empty", { who: "user" });
  const exact = await readSession(archive, start);
  if (!isFailure(exact) || exact.code === "log-corrupt") return start;
  const found = (await listSessions(archive, {})).filter(({ id }) => id.startsWith(start));
  const [only, another] = found;
  if (only && !another) return only.id;
  const what = only ? `${found.length} sessions begin with "${start}"` : `there is no session ${start}`;
  return failure("session-unknown", `${what}; \`lathe sessions list\` shows them`, { who: "user" });
}
