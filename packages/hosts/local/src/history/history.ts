/** History: reading sessions without owning them. */
import { type Event, type Failure, failure, isFailure, type SessionSummary } from "@lathe/protocol";
import { openState } from "./state.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface SessionQuery {
  readonly cwd?: string;
  readonly limit?: number;
  /** Words that all stand in its title or name, in any order and case. */
  readonly search?: string;
}

/** Newest first. */
export async function listSessions(
  env: Env,
  { search = "", limit, ...query }: SessionQuery,
): Promise<readonly SessionSummary[]> {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const { store } = openState(env);
  if (words.length === 0) return store.list({ ...query, ...(limit !== undefined && { limit }) });
  const found = (await store.list(query)).filter(({ title }) =>
    words.every((word) => title.toLowerCase().includes(word)),
  );
  return found.slice(0, limit);
}

/** The newest that a person began in the folder. */
export async function newestSession(env: Env, cwd: string): Promise<SessionSummary | undefined> {
  return (await listSessions(env, { cwd })).find(({ agent }) => agent === undefined);
}

export function readSession(env: Env, id: string): Promise<readonly Event[] | Failure> {
  return openState(env).store.read(id);
}

/** The whole id of a session, from the start of it or from all of it. */
export async function findSession(env: Env, start: string): Promise<string | Failure> {
  if (start === "") return failure("session-unknown", "the id of a session is empty", { who: "user" });
  const exact = await readSession(env, start);
  if (!isFailure(exact) || exact.code === "log-corrupt") return start;
  const found = (await listSessions(env, {})).filter(({ id }) => id.startsWith(start));
  const [only, another] = found;
  if (only && !another) return only.id;
  const what = only ? `${found.length} sessions begin with "${start}"` : `there is no session ${start}`;
  return failure("session-unknown", `${what}; \`lathe sessions list\` shows them`, { who: "user" });
}
