/** Starting a new session and taking over one that exists. */
import { type Birth, sessionCreated } from "@lathe/agent";
import { guardRailsOf } from "@lathe/context";
import { type Instructions, mayRemember, readInstructions } from "@lathe/extensions";
import {
  type Draft,
  type Failure,
  failure,
  fold,
  isFailure,
  type Mode,
  type SessionLog,
  tuningOf,
} from "@lathe/protocol";
import { processOwner } from "@lathe/stores";
import { isTrial, variantOf } from "../evals/task-env.ts";
import { explained } from "../explained.ts";
import { openState } from "../history/state.ts";
import type { LocalOptions } from "../local-options.ts";
import { systemClock } from "../machine/system-clock.ts";
import { builtinModel, chooseModels, refusedModel } from "../models/choose-models.ts";
import { newSessionId } from "../session-id.ts";
import { type Member, openRoot } from "../subagents/member.ts";
import { openRedactor } from "../telemetry/open-redactor.ts";
import { asBefore, type Said } from "./as-before.ts";
import { type LocalSession, openLocalSession, type Words } from "./local-session.ts";
import { openScratchFolder } from "./scratch-folder.ts";
import { sessionEnvironment } from "./session-environment.ts";
import { openSessionTools, type SessionTools } from "./session-tools.ts";

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
  const refused = refusedModel(options);
  if (refused) return refused;
  return beginSession(options, { id, member: await root(options), words });
}

/** *Contract:* as `startSession`, for a session whose id is known already; it goes on where it was begun before. */
async function openChildSession(options: LocalOptions, newborn: Newborn): Promise<LocalSession | Failure> {
  const opened = await claimSession(options, newborn.id, newborn);
  if (!isFailure(opened) || opened.code !== "session-unknown") return opened;
  return beginSession(options, newborn);
}

/** *Contract:* as `openChildSession`, in a process of its own: the other sessions of the tree run elsewhere. */
export async function openAttempt(
  options: LocalOptions,
  { id, birth, words }: { readonly id: string; readonly birth: Birth; readonly words: Words },
): Promise<LocalSession | Failure> {
  return openChildSession(options, { id, member: await root(options, birth), words });
}

/** *Contract:* a session below another one that has no tools at all. */
export async function openJudge(
  { planner: _, ...options }: LocalOptions,
  { id, birth, words }: { readonly id: string; readonly birth: Birth; readonly words: Words },
): Promise<LocalSession | Failure> {
  const member = { ...(await root(options, birth)), tools: [], held: () => [] };
  return beginSession(options, { id, member, words });
}

function root(options: LocalOptions, birth?: Birth): Promise<Member> {
  const run: Parameters<typeof openRoot>[1] = async (task, context, member) => {
    const { runSubagent } = await import("../subagents/run-subagent.ts");
    return runSubagent(task, context, { member, open: openChildSession });
  };
  return openRoot(options, run, birth);
}

interface Newborn {
  readonly id: string;
  readonly member: Member;
  readonly words: Words;
}

async function beginSession(asked: LocalOptions, newborn: Newborn): Promise<LocalSession | Failure> {
  const { id, member, words } = newborn;
  const options = await exporting(await drawn(asked, id, member), member);
  const { env } = options;
  const at = systemClock.now();
  const { created, own, remarks: told } = await draftNewborn(options, newborn, at);
  const scratch = openScratchFolder(created.data.id);
  if (isFailure(scratch)) return scratch;
  const log = await createLog(created, { words, env, at });
  const remarks = [...told, ...member.remarks];
  if (!isFailure(log)) return openLocalSession({ log, scratch, remarks, member, own }, options);
  // One that was there may be another's, who was first to begin this session.
  if (!scratch.isFound) scratch.remove();
  return explained(log, env);
}

/** How a session of these options begins, for one that nobody drives yet. */
export async function draftSession(
  options: LocalOptions,
  { id, words, at }: { readonly id: string; readonly words: Words; readonly at: number },
): Promise<Draft<"session.created">> {
  const { created, own } = await draftNewborn(options, { id, words, member: await root(options) }, at);
  await own.close();
  return created;
}

interface Drafted {
  readonly created: Draft<"session.created">;
  readonly own: SessionTools;
  readonly remarks: readonly string[];
}

async function draftNewborn(
  options: LocalOptions,
  { id, member, words }: Newborn,
  at: number,
): Promise<Drafted> {
  const { cwd, env, version } = options;
  const { birth } = member;
  const environment = sessionEnvironment(cwd, env, at);
  const { texts, remarks } = readInstructions(options);
  const own = heldTo(member, await openSessionTools(options));
  const remembered = mayRemember(options)
    ? (await import("@lathe/extensions/memory")).memoryTexts(options)
    : [];
  const model = options.planner ?? chooseModels(options.models, env)[0] ?? builtinModel;
  const created = sessionCreated({
    id,
    cwd,
    task: words.text,
    harness: version,
    model,
    tools: [...member.tools, ...own.tools],
    environment: await environment,
    instructions: await redacted([...texts, ...remembered], options),
    material: await firstMaterial(model, words.text, options),
    ...(birth && { birth }),
    tuning: tuningOf(options.assigned),
  });
  return { created, own, remarks };
}

/** Subagents tell the exporter of their root. */
async function exporting(options: LocalOptions, { depth }: Member): Promise<LocalOptions> {
  const { LATHE_TELEMETRY: wanted, OTEL_SDK_DISABLED: isDisabled } = options.env;
  if (!wanted || wanted === "off" || isDisabled === "true" || depth > 0) return options;
  if (wanted !== "otlp") {
    options.onRemark?.(`LATHE_TELEMETRY is otlp or off, not ${wanted}: nothing is sent.`);
    return options;
  }
  const { openOtel } = await import("../telemetry/open-otel.ts");
  return { ...options, exporter: openOtel(options) };
}

/** A subagent has what its root was drawn for. */
async function drawn(options: LocalOptions, id: string, { birth }: Member): Promise<LocalOptions> {
  const { experiments = [] } = options;
  // A trial of an evaluation is no session of a person: it is what it is told to be.
  const variant = isTrial(options.env) ? variantOf(options.env) : undefined;
  if (birth || (!variant && (experiments.length === 0 || isTrial(options.env)))) return options;
  const { assign, withAssigned } = await import("../experiments/assign.ts");
  return withAssigned(options, variant ? [variant] : assign(experiments, id), true);
}

/** What it was drawn for when it began, as far as that is still tried. */
async function drawnBefore(options: LocalOptions, log: SessionLog): Promise<LocalOptions> {
  const { experiments = [], assigned } = options;
  if (assigned || experiments.length === 0) return options;
  const { settings } = fold(log.events);
  const { stillAssigned, withAssigned } = await import("../experiments/assign.ts");
  return withAssigned(options, stillAssigned(settings.experiments ?? [], experiments), false);
}

/** A subagent has none that its kind does not name. */
function heldTo({ held }: Member, own: SessionTools): SessionTools {
  return { ...own, tools: held(own.tools) };
}

/** The prompt goes to a model and into the log. */
async function redacted(texts: Instructions["texts"], options: LocalOptions): Promise<Instructions["texts"]> {
  if (texts.length === 0) return texts;
  const { redact } = openRedactor(options);
  return Promise.all(texts.map(async ({ path, text }) => ({ path, text: await redact(text) })));
}

/** For models that are shown more at once. */
async function firstMaterial(
  model: string,
  task: string,
  options: LocalOptions,
): Promise<NonNullable<Parameters<typeof sessionCreated>[0]["material"]>> {
  const { guardRails } = options;
  const rails = guardRailsOf({ model, settings: guardRails ? { guardRails } : {} });
  if (!rails.folderLayout && !rails.matchedSnippets) return [];
  const { redact } = openRedactor(options);
  const found = await (await import("./first-look.ts")).firstLook(options, rails, task);
  return Promise.all(found.map(async ({ about, text }) => ({ about, text: await redact(text) })));
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
  const { id } = created.data;
  const isSaid = created.data.agent !== undefined && (await inbox.pending(id)).length > 0;
  const refused = isSaid ? undefined : await inbox.offer(id, { type: "message", ...words });
  return refused ?? store.create(created, { owner: processOwner(), at });
}

/**
 * *Contract:* `session-owned` when another process that still runs has it; a subagent's goes on with its parent alone. What `said`
 * leaves open is as it was before, or stricter where the options are.
 */
export async function resumeSession(
  options: LocalOptions,
  id: string,
  said: Said,
): Promise<LocalSession | Failure> {
  const session = await claimSession(options, id, { member: await root(options), said });
  if (isFailure(session)) return session;
  const { agent, parent, root: first, attempts } = session.session();
  const isTriedStill = attempts !== undefined && attempts.settled === undefined;
  const elsewhere = await (await import("./elsewhere.ts")).elsewhere(session.session(), options, said);
  if (agent === undefined && !isTriedStill && !elsewhere) return session;
  await session.close();
  if (elsewhere) return elsewhere;
  if (isTriedStill) {
    const why = `session ${id} compares attempts at its task and is not through with it`;
    return failure("session-owned", `${why}; go on with \`lathe run --resume ${id}\``, { who: "user" });
  }
  const text = `session ${id} is a subagent's (${agent}), which is held to what session ${parent} may do`;
  return failure("session-owned", `${text}; go on with \`--resume ${first}\``, { who: "user" });
}

async function claimSession(
  asked: LocalOptions,
  id: string,
  { member, said }: { readonly member: Member; readonly said?: Said },
): Promise<LocalSession | Failure> {
  const claim = { owner: processOwner(), at: systemClock.now() };
  const log = await openState(asked.env).store.claim(id, claim);
  if (isFailure(log)) return explained(log, asked.env);
  const kept = said ? asBefore(asked, fold(log.events), said) : asked;
  const options = await exporting(await drawnBefore(kept, log), member);
  const scratch = openScratchFolder(log.id);
  if (!isFailure(scratch)) {
    const held = kept.mode === asked.mode ? [] : [keptMode(kept.mode, asked.mode)];
    const remarks = [...log.repairs, ...member.remarks, ...held];
    const own = heldTo(member, await openSessionTools(options, () => fold(log.events).prompt.tools));
    return openLocalSession({ log, scratch, remarks, member, own }, options);
  }
  await log.close();
  return scratch;
}

function keptMode(mode: Mode, asked: Mode): string {
  return `the session goes on in ${mode} mode, as before; --permission-mode ${asked} changes that`;
}
