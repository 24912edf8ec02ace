/** Local sessions: the use cases that run sessions in a workspace of this machine. */
import type { ContextCompacted, Failure } from "@lathe/protocol";
import { type ExplicitOptions, newSessionId, type OpenSession, type Words } from "@lathe/sessions";
import * as sessions from "@lathe/sessions/start-session";
import { localHost } from "./local-host.ts";
import type { LocalOptions } from "./local-options.ts";
import { systemClock } from "./machine/system-clock.ts";

/** An id for a session that is started later. */
export function reserveSessionId(): string {
  return newSessionId(systemClock);
}

/** *Contract:* `words` are said to the session and name it; `run` without words begins with them. The caller closes what it gets. */
export function startSession(
  options: LocalOptions,
  words: Words,
  id: string = reserveSessionId(),
): Promise<OpenSession | Failure> {
  return sessions.startSession(localHost(options), options, { id, words });
}

/** *Contract:* as `sessions.resumeSession`. */
export function resumeSession(
  options: LocalOptions,
  id: string,
  explicit: ExplicitOptions,
): Promise<OpenSession | Failure> {
  return sessions.resumeSession(localHost(options), options, { id, explicit });
}

export async function compactSession(
  options: LocalOptions,
  id: string,
  focus: string | undefined,
): Promise<ContextCompacted | Failure> {
  // No command is run here, so nothing needs to find out what could confine one.
  const host = localHost({ ...options, sandbox: "off" });
  const { compactSession: compact } = await import("@lathe/sessions/compact-session");
  return compact(host, options, { id, focus });
}
