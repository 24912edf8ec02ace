/** Workbench: tools one by one, outside any session, under the ordinary policy. */
import { evaluate, factsNeeded } from "@lathe/policy";
import {
  type Facts,
  type Failure,
  failure,
  isFailure,
  type Outcome,
  type PreparedCall,
  type Shown,
  type ToolContext,
} from "@lathe/protocol";
import type { Containment } from "./containment.ts";
import type { LocalOptions } from "./local-options.ts";
import { type Opened, openPorts } from "./open-ports.ts";
import { openScratchFolder } from "./scratch-folder.ts";
import { newSessionId } from "./session-id.ts";
import { systemClock } from "./system-clock.ts";

export interface Workbench {
  readonly tools: readonly string[];
  /**
   * *Contract:* calls are made one after the other; files shown by one are known to the next. None begins once the
   * signal has come, and the one that runs is interrupted.
   */
  run(tool: string, input: unknown): Promise<Outcome>;
  /** What holds commands in here. */
  containment(): Promise<Containment>;
  /** *Contract:* ends every process, removes the scratch folder; idempotent. */
  close(): Promise<void>;
}

export function openWorkbench(options: LocalOptions, signal: AbortSignal): Workbench | Failure {
  const scratch = openScratchFolder(`tool-${newSessionId(systemClock)}`);
  if (isFailure(scratch)) return scratch;
  const opened = openPorts({ scratch, check: async () => undefined }, options);
  const shown: Shown[] = [];
  return {
    tools: opened.ports.tools.map((tool) => tool.name),
    run: async (name, input) => {
      const tool = opened.ports.tools.find((one) => one.name === name);
      if (!tool) return { type: "failed", failure: failure("unknown-tool", `there is no tool ${name}`) };
      const prepared = tool.prepare(input);
      if (isFailure(prepared)) return { type: "failed", failure: prepared };
      const decision = evaluate(prepared, await factsOf(prepared, opened, options), opened.ports.rules);
      if (decision.verdict !== "allow") return { type: "refused", rule: decision.rule, why: decision.why };
      if (signal.aborted)
        return { type: "interrupted", failure: failure("cancelled", "cancelled"), text: "" };
      const outcome = await prepared.run(contextOf(opened, shown, signal));
      if (outcome.type === "ok") shown.push(...(outcome.facts?.shown ?? []));
      return outcome;
    },
    containment: () => opened.containment(),
    close: () => opened.close(),
  };
}

async function factsOf({ effects }: PreparedCall, opened: Opened, { mode }: LocalOptions): Promise<Facts> {
  const { workspace, containment } = opened.ports;
  const found = factsNeeded(effects).paths.map(async (path) => {
    const real = await workspace.resolve(path);
    return [
      path,
      isFailure(real) ? { real: path, inside: false, failure: real } : { real, inside: true },
    ] as const;
  });
  if (effects.some(({ kind }) => kind !== "read")) await opened.containment();
  return { mode, ...containment, paths: Object.fromEntries(await Promise.all(found)) };
}

function contextOf({ ports }: Opened, shown: readonly Shown[], signal: AbortSignal): ToolContext {
  const { workspace, sandbox, search, syntax, blobs, clock } = ports;
  return {
    workspace,
    sandbox,
    search,
    syntax,
    blobs,
    signal,
    now: () => clock.now(),
    delta: (delta) => ports.onDelta({ ...delta, call: "tool" }),
    shown: (path) => shown.filter((one) => one.path === path),
    todos: [],
  };
}
