/** Starting a new session and taking over one that exists. */
import { sessionCreated } from "@lathe/agent";
import { type Failure, isFailure, type SessionLog } from "@lathe/protocol";
import { processOwner } from "@lathe/stores";
import { builtinTools } from "@lathe/tools";
import { readInstructions } from "./instructions.ts";
import type { LocalOptions } from "./local-options.ts";
import { type LocalSession, openLocalSession } from "./local-session.ts";
import { sessionEnvironment } from "./session-environment.ts";
import { newSessionId } from "./session-id.ts";
import { openState } from "./state.ts";
import { systemClock } from "./system-clock.ts";

/** *Contract:* `task` is said to the session and names it; `run` without words begins with it. The caller closes what it gets. */
export async function startSession(options: LocalOptions, task: string): Promise<LocalSession | Failure> {
  const { cwd, env, version } = options;
  const at = systemClock.now();
  const created = sessionCreated({
    id: newSessionId(systemClock),
    cwd,
    task,
    harness: version,
    tools: builtinTools,
    environment: sessionEnvironment(cwd, env, at),
    instructions: readInstructions(cwd),
  });
  const { inbox, store } = openState(env);
  // Said before there is a session, so that no session is ever without its task, whenever we are killed.
  const refused = await inbox.offer(created.data.id, { type: "message", text: task });
  if (refused) return refused;
  const log = await store.create(created, { owner: processOwner(), at });
  return opened(log, options);
}

/** *Contract:* `session-owned` when another process that still runs has it. */
export async function resumeSession(options: LocalOptions, id: string): Promise<LocalSession | Failure> {
  const claim = { owner: processOwner(), at: systemClock.now() };
  const log = await openState(options.env).store.claim(id, claim);
  return opened(log, options);
}

function opened(log: SessionLog | Failure, options: LocalOptions): LocalSession | Failure {
  return isFailure(log) ? log : openLocalSession(log, options);
}
