/** Opens everything an agent reaches on this machine; what is not needed before the first request is loaded later. */
import { type AgentPorts, createShownTexts } from "@lathe/agent";
import type { Failure, Fenced, Syntax } from "@lathe/protocol";
import { createSyntax } from "@lathe/syntax";
import { builtinTools } from "@lathe/tools";
import { createWorkspace } from "@lathe/workspace";
import { afterFirstRequest } from "./after-first-request.ts";
import { allSteps } from "./all-steps.ts";
import { chooseModels } from "./choose-models.ts";
import { type Containment, createContainmentProbe } from "./containment.ts";
import { homeFolder } from "./home-folder.ts";
import { createLazyCheckpoints } from "./lazy-checkpoints.ts";
import { createLazySandbox } from "./lazy-sandbox.ts";
import { createLazySearch } from "./lazy-search.ts";
import type { LocalOptions } from "./local-options.ts";
import { openGateway } from "./model-gateway.ts";
import { openDriver } from "./open-driver.ts";
import { recoveryText } from "./recovery-text.ts";
import type { ScratchFolder } from "./scratch-folder.ts";
import { sessionRules } from "./session-rules.ts";
import { openState, pruneTexts } from "./state.ts";
import { workspaceFolder } from "./state-folder.ts";
import { createSurroundings } from "./surroundings.ts";
import { systemClock } from "./system-clock.ts";

/** Whose effects they are. */
export interface Fence {
  /** Theirs until they are closed. */
  readonly scratch: ScratchFolder;
  /** *Contract:* a failure when effects may not happen any more. */
  check(): Promise<Failure | undefined>;
  /** *Contract:* runs a short effect that nobody else's may overlap. */
  readonly fenced: Fenced;
}

export interface Opened {
  readonly ports: AgentPorts;
  readonly models: readonly string[];
  containment(): Promise<Containment>;
  /** *Contract:* ends every process and removes the scratch folder; idempotent. */
  close(): Promise<void>;
}

export function openPorts(fence: Fence, options: LocalOptions): Opened {
  const { cwd, env } = options;
  const models = chooseModels(options.models, env);
  const gateway = openGateway(options);
  if (models[0] !== undefined) gateway.preload(models[0]);
  const check = (): Promise<Failure | undefined> => fence.check();
  const probe = createContainmentProbe(options.sandbox, () =>
    openDriver(options.sandbox, { check, home: homeFolder(env) }),
  );
  const { scratch, fenced } = fence;
  const early = { workspace: cwd, scratch: scratch.path, network: "none" } as const;
  const sandbox = createLazySandbox(early, async () => {
    const [{ driver }, { commandEnv }] = await Promise.all([probe.ready(), import("@lathe/sandbox")]);
    return driver.open({ ...early, env: commandEnv(env, scratch.path) });
  });
  // An opened sandbox ends what the dead one of its folder left running.
  const endLeftovers = async (): Promise<unknown> => scratch.isFound && sandbox.open();
  // What the first change would wait for: the edit engine, git, and what the last session saw of the files.
  const prepareChanges = (): Promise<unknown> =>
    Promise.all([import("@lathe/edits"), workspace.prepare(), options.checkpoints && checkpoints.open()]);
  const syntax = createSyntax();
  const state = openState(env);
  const workspace = createWorkspace({
    root: cwd,
    fenced,
    journal: workspaceFolder(env, cwd),
    onRecovered: (recovery) => options.onRemark?.(recoveryText(recovery)),
  });
  const checkpoints = createLazyCheckpoints({ root: cwd, env, fenced, onRemark: options.onRemark });
  const texts = createShownTexts(state.texts);
  return {
    models,
    containment: probe.ready,
    ports: {
      inbox: state.inbox,
      blobs: state.blobs,
      texts,
      models: afterFirstRequest(gateway, () =>
        Promise.all([probe.ready(), endLeftovers(), prepareChanges(), parseNothing(syntax)]),
      ),
      tools: builtinTools,
      rules: sessionRules(options.rules, cwd),
      workspace,
      checkpoint: checkpoints.take,
      sandbox,
      containment: probe.held,
      surroundings: createSurroundings(cwd, env),
      search: createLazySearch(cwd),
      syntax,
      clock: systemClock,
      onEvent: options.onEvent,
      onDelta: options.onDelta,
    },
    close: () =>
      allSteps([
        gateway.close,
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

/** The first command would wait for the grammar. */
async function parseNothing(syntax: Syntax): Promise<void> {
  (await syntax.parse("bash", "")).close();
}
