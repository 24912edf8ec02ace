/** Starting a new session and taking over one that exists. */
import { sessionCreated } from "@lathe/agent";
import { type Failure, fold, isFailure, type SessionLog } from "@lathe/protocol";
import { processOwner } from "@lathe/stores";
import { builtinTools } from "@lathe/tools";
import { builtinModel, chooseModels } from "./choose-models.ts";
import { explained } from "./explained.ts";
import { type Instructions, readInstructions } from "./instructions.ts";
import type { LocalOptions } from "./local-options.ts";
import { type LocalSession, openLocalSession, type Words } from "./local-session.ts";
import { openRedactor } from "./open-redactor.ts";
import { openScratchFolder } from "./scratch-folder.ts";
import { sessionEnvironment } from "./session-environment.ts";
import { newSessionId } from "./session-id.ts";
import { openSessionTools } from "./session-tools.ts";
import { openState } from "./state.ts";
import { systemClock } from "./system-clock.ts";

/** An id for a session that is started later. */
export function reserveSessionId(): string {
  return newSessionId(systemClock);
}

/** *Contract:* `words` are said to the session and name it; `run` without words begins with them. The caller closes what it gets. */
export async function startSession(
  options: LocalOptions,
  words: Words,
  id: string = reserveSessionId(),
): Promise<LocalSession | Failure> {
  const { cwd, env, version } = options;
  const at = systemClock.now();
  const { texts, leftOut } = readInstructions(cwd);
  const own = await openSessionTools(options);
  const created = sessionCreated({
    id,
    cwd,
    task: words.text,
    harness: version,
    model: chooseModels(options.models, env)[0] ?? builtinModel,
    tools: [...builtinTools, ...own.tools],
    environment: sessionEnvironment(cwd, env, at),
    instructions: await redacted(texts, options),
  });
  const scratch = openScratchFolder(created.data.id);
  if (isFailure(scratch)) return scratch;
  const log = await createLog(created, { words, env, at });
  if (!isFailure(log)) return openLocalSession({ log, scratch, remarks: leftOut, own }, options);
  scratch.remove();
  return explained(log, env);
}

/** The prompt goes to a model and into the log. */
async function redacted(texts: Instructions["texts"], options: LocalOptions): Promise<Instructions["texts"]> {
  if (texts.length === 0) return texts;
  const { redact } = openRedactor(options);
  return Promise.all(texts.map(async ({ path, text }) => ({ path, text: await redact(text) })));
}

interface Beginning {
  readonly words: Words;
  readonly env: LocalOptions["env"];
  readonly at: number;
}

async function createLog(
  created: ReturnType<typeof sessionCreated>,
  { words, env, at }: Beginning,
): Promise<SessionLog | Failure> {
  const { inbox, store } = openState(env);
  // Said before there is a session, so that no session is ever without its task, whenever we are killed.
  const refused = await inbox.offer(created.data.id, { type: "message", ...words });
  return refused ?? store.create(created, { owner: processOwner(), at });
}

/** *Contract:* `session-owned` when another process that still runs has it. */
export async function resumeSession(options: LocalOptions, id: string): Promise<LocalSession | Failure> {
  const claim = { owner: processOwner(), at: systemClock.now() };
  const log = await openState(options.env).store.claim(id, claim);
  if (isFailure(log)) return explained(log, options.env);
  const scratch = openScratchFolder(log.id);
  if (!isFailure(scratch)) {
    const own = await openSessionTools(options, () => fold(log.events).prompt.tools);
    return openLocalSession({ log, scratch, remarks: log.repairs, own }, options);
  }
  await log.close();
  return scratch;
}
