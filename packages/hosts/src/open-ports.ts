/** Opens everything an agent reaches on this machine; what is not needed before the first request is loaded later. */
import { type AgentPorts, createShownTexts } from "@lathe/agent";
import type { Failure, Fenced, RouterSettings, Syntax } from "@lathe/protocol";
import { createSyntax } from "@lathe/syntax";
import { builtinTools } from "@lathe/tools";
import { createWorkspace, type Recovery } from "@lathe/workspace";
import { afterFirstRequest } from "./after-first-request.ts";
import { allSteps } from "./all-steps.ts";
import { chooseModels } from "./choose-models.ts";
import type { Containment } from "./containment.ts";
import { createLazyCheckpoints } from "./lazy-checkpoints.ts";
import { createLazySearch } from "./lazy-search.ts";
import type { LocalOptions } from "./local-options.ts";
import { openGateway } from "./model-gateway.ts";
import { openRedactor } from "./open-redactor.ts";
import { recoveryText } from "./recovery-text.ts";
import type { ScratchFolder } from "./scratch-folder.ts";
import { openSessionRouter } from "./session-router.ts";
import { sessionRules } from "./session-rules.ts";
import { openSessionSandbox } from "./session-sandbox.ts";
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
  /** Where a router chooses among them. */
  readonly router?: RouterSettings;
  containment(): Promise<Containment>;
  /** *Contract:* ends every process and removes the scratch folder; idempotent. */
  close(): Promise<void>;
}

export function openPorts(fence: Fence, options: LocalOptions): Opened {
  const { cwd, env } = options;
  const gateway = openGateway(options);
  const routed = openSessionRouter(options, gateway);
  const models = routed?.models ?? chooseModels(options.models, env);
  if (models[0] !== undefined) gateway.preload(models[0]);
  const { scratch, fenced } = fence;
  const { probe, sandbox, network } = openSessionSandbox({ scratch, check: () => fence.check() }, options);
  // An opened sandbox ends what the dead one of its folder left running.
  const endLeftovers = async (): Promise<unknown> => scratch.isFound && sandbox.open();
  const syntax = createSyntax();
  const state = openState(env);
  const onRecovered = (recovery: Recovery): void => options.onRemark?.(recoveryText(recovery));
  const workspace = createWorkspace({ root: cwd, fenced, journal: workspaceFolder(env, cwd), onRecovered });
  const checkpoints = createLazyCheckpoints({ root: cwd, env, fenced, onRemark: options.onRemark });
  const redactor = openRedactor(options);
  const texts = createShownTexts(state.texts, redactor.redact);
  return {
    models,
    ...(routed && { router: routed.settings }),
    containment: probe.ready,
    ports: {
      inbox: state.inbox,
      network,
      blobs: state.blobs,
      texts,
      redact: redactor.redact,
      models: afterFirstRequest(gateway, () =>
        Promise.all([
          ...[probe.ready(), redactor.load(), endLeftovers(), parseNothing(syntax)],
          // What the first change would wait for: the edit engine, git, and what the last session saw of the files.
          ...[import("@lathe/edits"), workspace.prepare(), options.checkpoints && checkpoints.open()],
        ]),
      ),
      ...(routed && { route: routed.route }),
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
