/** Stored sessions: the use cases on the sessions of this user on this machine; each is loaded when first used. */
import type { Event, Failure, Session, SessionSummary } from "@lathe/protocol";
import type { Descendants } from "./history/descendants.ts";
import type { Following } from "./history/follow-session.ts";
import type { ForkOptions } from "./history/fork-session.ts";
import type { SessionQuery } from "./history/history.ts";
import type { Manner, RewindOptions, Rewound } from "./history/rewind-session.ts";
import type { SessionChanges } from "./history/session-changes.ts";
import type { ContextReport } from "./history/session-context.ts";
import type { CostReport } from "./history/session-cost.ts";
import type { SessionEdits } from "./history/session-edits.ts";
import type { CallOutput } from "./history/session-outputs.ts";
import { localArchive } from "./local-archive.ts";
import type { LocalOptions } from "./local-options.ts";
import type { Env } from "./places/state-folder.ts";

export type { Descendants } from "./history/descendants.ts";
export type { Rewound } from "./history/rewind-session.ts";
export type { SessionChanges, SessionFile } from "./history/session-changes.ts";
export type { ContextReport } from "./history/session-context.ts";
export type { CostReport, Place, StepCost, Total } from "./history/session-cost.ts";
export type { SessionEdit } from "./history/session-edits.ts";
export type { CallOutput } from "./history/session-outputs.ts";

export async function listSessions(env: Env, query: SessionQuery): Promise<readonly SessionSummary[]> {
  const sessions = await import("./history/history.ts");
  return sessions.listSessions(localArchive(env), query);
}

export async function newestSession(env: Env, cwd: string): Promise<SessionSummary | undefined> {
  const sessions = await import("./history/history.ts");
  return sessions.newestSession(localArchive(env), cwd);
}

export async function readSession(env: Env, id: string): Promise<readonly Event[] | Failure> {
  return localArchive(env).stores.store.read(id);
}

export async function findSession(env: Env, start: string): Promise<string | Failure> {
  const sessions = await import("./history/history.ts");
  return sessions.findSession(localArchive(env), start);
}

export async function nameSession(env: Env, id: string, name: string): Promise<Failure | undefined> {
  const sessions = await import("./history/name-session.ts");
  return sessions.nameSession(localArchive(env), id, name);
}

export async function deleteSession(env: Env, id: string): Promise<readonly string[] | Failure> {
  const sessions = await import("./history/delete-session.ts");
  return sessions.deleteSession(localArchive(env), id);
}

export async function forkSession(env: Env, id: string, options: ForkOptions): Promise<string | Failure> {
  const sessions = await import("./history/fork-session.ts");
  return sessions.forkSession(localArchive(env), id, options);
}

export async function rewindSession(
  env: Env,
  id: string,
  options: RewindOptions,
): Promise<Rewound | Failure> {
  const sessions = await import("./history/rewind-session.ts");
  return sessions.rewindSession(localArchive(env), id, options);
}

export async function undoRewind(env: Env, id: string, manner: Manner): Promise<Rewound | Failure> {
  const sessions = await import("./history/rewind-session.ts");
  return sessions.undoRewind(localArchive(env), id, manner);
}

export async function followSession(
  env: Env,
  id: string,
  following: Following,
): Promise<Failure | undefined> {
  const sessions = await import("./history/follow-session.ts");
  return sessions.followSession(localArchive(env), id, following);
}

export async function newestFree(env: Env, cwd: string): Promise<string | Failure | undefined> {
  const sessions = await import("./history/follow-session.ts");
  return sessions.newestFree(localArchive(env), cwd);
}

export async function newestRunning(env: Env, cwd: string): Promise<string | undefined> {
  const sessions = await import("./history/follow-session.ts");
  return sessions.newestRunning(localArchive(env), cwd);
}

export async function descendantsOf(env: Env, session: Session): Promise<Descendants> {
  const sessions = await import("./history/descendants.ts");
  return sessions.descendantsOf(localArchive(env), session);
}

export async function sessionCost(env: Env, id: string): Promise<CostReport | Failure> {
  const sessions = await import("./history/session-cost.ts");
  return sessions.sessionCost(localArchive(env), id);
}

export async function sessionChanges(env: Env, id: string): Promise<SessionChanges | Failure> {
  const sessions = await import("./history/session-changes.ts");
  return sessions.sessionChanges(localArchive(env), id);
}

export async function sessionEdits(env: Env, id: string): Promise<SessionEdits | Failure> {
  const sessions = await import("./history/session-edits.ts");
  return sessions.sessionEdits(localArchive(env), id);
}

export async function sessionOutputs(env: Env, id: string): Promise<readonly CallOutput[] | Failure> {
  const sessions = await import("./history/session-outputs.ts");
  return sessions.sessionOutputs(localArchive(env), id);
}

export async function wholeOutput(env: Env, output: CallOutput): Promise<string | Failure> {
  const sessions = await import("./history/session-outputs.ts");
  return sessions.wholeOutput(localArchive(env), output);
}

export async function sessionContext(
  options: Pick<LocalOptions, "env" | "providers" | "catalogue" | "version">,
  id: string,
): Promise<ContextReport | Failure> {
  const [sessions, { openGateway }] = await Promise.all([
    import("./history/session-context.ts"),
    import("./models/model-gateway.ts"),
  ]);
  const windowOf = async (model: string): Promise<number> => {
    const gateway = openGateway(options);
    const { window } = gateway.info(model);
    await gateway.close();
    return window;
  };
  return sessions.sessionContext({ ...localArchive(options.env), windowOf }, id);
}
