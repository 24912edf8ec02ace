/** History: reading sessions without owning them. */
import { type Event, type Failure, failure, isFailure, type SessionSummary } from "@lathe/protocol";
import { openState } from "./state.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Newest first. */
export function listSessions(
  env: Env,
  query: { readonly cwd?: string; readonly limit?: number },
): Promise<readonly SessionSummary[]> {
  return openState(env).store.list(query);
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
  const exact = await readSession(env, start);
  if (!isFailure(exact) || exact.code === "log-corrupt") return start;
  const found = (await listSessions(env, {})).filter(({ id }) => id.startsWith(start));
  const [only, another] = found;
  if (only && !another) return only.id;
  const what = only ? `${found.length} sessions begin with "${start}"` : `there is no session ${start}`;
  return failure("session-unknown", `${what}; \`lathe sessions list\` shows them`, { who: "user" });
}
