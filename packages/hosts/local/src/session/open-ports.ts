/** Opens everything an agent reaches on this machine; what is not needed before the first request is loaded later. */
import { type AgentPorts, createChangedFiles, createShownTexts } from "@lathe/agent";
import { guardRailsOf } from "@lathe/context";
import { nestedInstructions } from "@lathe/extensions";
import type { Failure, Fenced, Mode, RouterSettings, Syntax } from "@lathe/protocol";
import { createSyntax } from "@lathe/syntax";
import { builtinTools } from "@lathe/tools";
import { createWorkspace, type LocalWorkspace, type Recovery } from "@lathe/workspace";
import { allSteps } from "../all-steps.ts";
import { openState, pruneTexts } from "../history/state.ts";
import type { LocalOptions } from "../local-options.ts";
import { systemClock } from "../machine/system-clock.ts";
import { openModels } from "../models/open-models.ts";
import { smallModels } from "../models/small-models.ts";
import { workspaceFolder } from "../places/state-folder.ts";
import { openKeptRules } from "../rules/kept-rules.ts";
import { sessionRules } from "../rules/session-rules.ts";
import type { Containment } from "../sandbox/containment.ts";
import { openSessionSandbox, type SessionSandbox } from "../sandbox/session-sandbox.ts";
import { createLazySearch } from "../search/lazy-search.ts";
import { newSessionId } from "../session-id.ts";
import type { Member } from "../subagents/member.ts";
import { type LocalRedactor, openRedactor } from "../telemetry/open-redactor.ts";
import { afterFirstRequest } from "./after-first-request.ts";
import { backgroundPorts } from "./background.ts";
import { createLazyCheckpoints, type LazyCheckpoints } from "./lazy-checkpoints.ts";
import { type LostFiles, lostFiles } from "./lost-files.ts";
import { recoveryText } from "./recovery-text.ts";
import { createRunLater } from "./run-later.ts";
import type { ScratchFolder } from "./scratch-folder.ts";
import type { SessionTools } from "./session-tools.ts";
import { createSurroundings } from "./surroundings.ts";

/** Whose effects they are. */
export interface Fence {
  /** Theirs until they are closed. */
  readonly scratch: ScratchFolder;
  /** The session whose ledger they charge. */
  readonly root: string;
  /** Absent outside sessions. */
  readonly member?: Member;
  /** Theirs, too. */
  readonly own: SessionTools;
  /** The mode they are in now. */
  mode(): Mode;
  /** The highest number of a process that they know of. */
  numberedAfter(): number;
  /** *Contract:* a failure when effects may not happen any more. */
  check(): Promise<Failure | undefined>;
  /** *Contract:* runs a short effect that nobody else's may overlap. */
  readonly fenced: Fenced;
}

export interface Opened {
  readonly ports: AgentPorts;
  readonly models: readonly string[];
  /** Where a router chooses among them. */
  readonly router?: RouterSettings;
  /** Tokens that a model takes, as far as is known. */
  windowOf(model: string): number;
  containment(): Promise<Containment>;
  /** *Contract:* ends every process and removes the scratch folder; idempotent. */
  close(): Promise<void>;
}

export function openPorts(fence: Fence, options: LocalOptions): Opened {
  const { cwd, env } = options;
  const { gateway, models, router, ...talk } = openModels(options);
  const { scratch, fenced, own } = fence;
  const { rules: keptRules, kept } = openKeptRules(options);
  const fixed = sessionRules(options.rules, options);
  const { workspace, checkpoints } = openFiles(fenced, options);
  const ruled = { ...options, rules: [...options.rules, ...keptRules()] };
  const { probe, network, sandbox, waited } = openCommands(fence, checkpoints, ruled);
  // An opened sandbox ends what the dead one of its folder left running.
  const endLeftovers = async (): Promise<unknown> => scratch.isFound && sandbox.open();
  const syntax = createSyntax();
  const state = openState(env);
  const ledger = state.ledgers.open(fence.root);
  const { redactor, texts } = openTexts(state, options);
  return {
    ...{ models, windowOf: talk.windowOf, containment: probe.ready },
    ...(router && { router }),
    ports: {
      inbox: state.inbox,
      ledger,
      network,
      blobs: state.blobs,
      texts,
      ...{ redact: redactor.redact, redaction: redactor.redaction },
      models: afterFirstRequest(gateway, () =>
        Promise.all([
          ...[probe.ready(), redactor.load(), endLeftovers(), parseNothing(syntax), keepDue(fence, options)],
          // What the first change would wait for: the edit engine, git, and what the last session saw of the files.
          ...[import("@lathe/edits"), workspace.prepare(), options.checkpoints && checkpoints.open()],
        ]),
      ),
      ...talk.ports,
      ...toolPorts(fence, nestedInstructions(cwd, redactor.redact), waited),
      get rules() {
        return [...keptRules(), ...fixed];
      },
      ...(kept && { kept }),
      ...smallModels(options, gateway, redactor.redact),
      ...{ workspace, changedFiles: createChangedFiles(workspace, texts) },
      ...{ checkpoint: checkpoints.take, runLater: createRunLater(checkpoints) },
      ...{ sandbox, ...backgroundPorts(sandbox, redactor.redact, options.wakes) },
      containment: probe.held,
      surroundings: createSurroundings(cwd, env),
      search: createLazySearch(cwd, env, options.embeddings),
      syntax,
      clock: systemClock,
      onEvent: talk.onEvent,
      onDelta: options.onDelta,
    },
    close: () =>
      allSteps([
        gateway.close,
        own.close,
        async () => ledger.close(),
        texts.flush,
        endLeftovers,
        sandbox.close,
        checkpoints.close,
        workspace.close,
        scratch.remove,
        () => pruneTexts(env, systemClock.now()),
      ]),
  };
}

function openCommands(
  { scratch, check, mode, numberedAfter, fenced }: Fence,
  checkpoints: LazyCheckpoints,
  options: LocalOptions,
): SessionSandbox & LostFiles {
  const held = openSessionSandbox({ scratch, check, mode, numberedAfter }, options);
  const { cwd: root, onRemark } = options;
  return { ...held, ...lostFiles(held.sandbox, { root, checkpoints, fenced, onRemark }) };
}

/** Once for a session of a person, when its first request is on its way. */
async function keepDue({ member }: Fence, { env, keepCommand: command }: LocalOptions): Promise<void> {
  if (member?.depth !== 0 || !command || env.LATHE_FORK) return;
  const { keepInBackground } = await import("../measure/keep-in-background.ts");
  keepInBackground({ env, command, now: systemClock.now() });
}

type Instructing = NonNullable<AgentPorts["instructions"]>;

function toolPorts(
  { member, own }: Pick<Fence, "member" | "own">,
  instructions: Instructing,
  waited: LostFiles["waited"],
): Pick<AgentPorts, "tools" | "kin" | "newSession" | "instructions"> {
  if (!member) return { tools: waited([...builtinTools, ...own.tools]) };
  const newSession = (): string => newSessionId(systemClock);
  const all = [...member.tools, ...own.tools];
  const isWanted = (): boolean => guardRailsOf(member.self().session()).diagnosticsAfterEdits === true;
  const tools = own.checkEdits?.(all, isWanted) ?? all;
  return { tools: waited(tools), kin: member.kin, newSession, instructions };
}

function openFiles(
  fenced: Fenced,
  { cwd, env, onRemark }: LocalOptions,
): { readonly workspace: LocalWorkspace; readonly checkpoints: LazyCheckpoints } {
  const onRecovered = (recovery: Recovery): void => onRemark?.(recoveryText(recovery));
  return {
    workspace: createWorkspace({ root: cwd, fenced, journal: workspaceFolder(env, cwd), onRecovered }),
    checkpoints: createLazyCheckpoints({ root: cwd, env, fenced, onRemark }),
  };
}

function openTexts(
  state: ReturnType<typeof openState>,
  options: LocalOptions,
): { readonly redactor: LocalRedactor; readonly texts: ReturnType<typeof createShownTexts> } {
  const redactor = openRedactor(options);
  return { redactor, texts: createShownTexts(state.texts, redactor.redact) };
}

/** The first command would wait for the grammar. */
async function parseNothing(syntax: Syntax): Promise<void> {
  (await syntax.parse("bash", "")).close();
}
