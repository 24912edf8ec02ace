/** Workbench: tools one by one, outside any session, under the ordinary policy. */
import { analyzeCall, toolContext } from "@lathe/agent";
import { type Explanation, evaluate, explain } from "@lathe/policy";
import {
  type Decision,
  type Effect,
  type Failure,
  failure,
  isFailure,
  type Mode,
  type Outcome,
  onlyReads,
  type Ports,
  type PreparedCall,
  type Shown,
  type Tier,
  type ToolSpec,
} from "@lathe/protocol";
import { type Containment, newSessionId, type SessionTools } from "@lathe/sessions";
import { type BackgroundProcess, backgroundOf } from "@lathe/sessions/background";
import { typedCommand } from "@lathe/sessions/typed-command";
import type { LocalOptions } from "../local-options.ts";
import { systemClock } from "../machine/system-clock.ts";
import { openPorts } from "../session/open-ports.ts";
import { openPassingScratch, unmadeScratch } from "../session/scratch-folder.ts";
import { noSessionTools } from "../session/session-tools.ts";
import { openBenchHooks } from "./bench-hooks.ts";

export interface Workbench {
  readonly tools: readonly string[];
  /** The same, as models are told of them. */
  readonly specs: readonly ToolSpec[];
  /**
   * *Contract:* calls are made one after the other; files shown by one are known to the next. None begins once the
   * signal has come, and the one that runs is interrupted; so it is by the signal of its own.
   */
  run(tool: string, input: unknown, own?: AbortSignal): Promise<Outcome>;
  /** *Contract:* a command that a person typed, in the sandbox. */
  command(script: string, signal: AbortSignal): Promise<Outcome>;
  /** Of these commands, those that went on in the background. */
  processes(): readonly BackgroundProcess[];
  /** *Contract:* runs nothing; what would be said of a shell command, in a session that keeps the files. */
  explain(script: string, supposed?: Tier): Promise<Explained>;
  /** What holds commands in here. */
  containment(): Promise<Containment>;
  /** *Contract:* ends every process, removes the scratch folder; idempotent. */
  close(): Promise<void>;
}

/** What would be said, and under which circumstances. */
export interface Explained extends Explanation {
  readonly mode: Mode;
  readonly sandbox: Tier;
}

/** `own` are closed with it. */
export function openWorkbench(
  options: LocalOptions,
  signal: AbortSignal,
  own: SessionTools = noSessionTools,
): Workbench | Failure {
  const id = `tool-${newSessionId(systemClock)}`;
  const scratch = openPassingScratch("tool");
  if (isFailure(scratch)) return scratch;
  const opened = openPorts({ scratch, own, ...withoutLease(options) }, options);
  const shown: Record<string, Shown[]> = {};
  const session = { shown, todos: [], calls: [], grants: [], refusals: [], settings: { mode: options.mode } };
  const hooks = openBenchHooks(id, options, opened.ports);
  const remember = (one: Shown): void => {
    shown[one.path] = [...(shown[one.path] ?? []), one];
  };
  return {
    tools: opened.ports.tools.map((tool) => tool.name),
    specs: opened.ports.tools,
    run: async (name, input, own = signal) => {
      const tool = opened.ports.tools.find((one) => one.name === name);
      if (!tool) return { type: "failed", failure: failure("unknown-tool", `there is no tool ${name}`) };
      const prepared = tool.prepare(input);
      if (isFailure(prepared)) return { type: "failed", failure: prepared };
      const either = AbortSignal.any([signal, own]);
      const { effects, judged } = await judge(prepared, options.mode, opened.ports);
      const call = { tool: name, input, prepared, effects, signal: either };
      const { verdict, rule, why } = await hooks.decide(call, judged);
      if (verdict !== "allow") return { type: "refused", rule, why };
      if (either.aborted)
        return { type: "interrupted", failure: failure("cancelled", "cancelled"), text: "" };
      const reads = effects.flatMap(({ kind, target }) => (kind === "read" ? [target] : []));
      const made = await prepared.run(
        toolContext(opened.ports, { call: "tool", session, amid: { signal: either }, more: { reads } }),
      );
      const outcome = withoutPerson(made, effects);
      if (outcome.type === "ok") for (const one of outcome.facts?.shown ?? []) remember(one);
      return hooks.ran(call, outcome);
    },
    command: (script, stop) => typedCommand(script, { session, signal: stop }, opened.ports),
    processes: () => backgroundOf(opened.ports),
    explain: (script, supposed) => explainScript(script, supposed, { options, ports: opened.ports }),
    containment: () => opened.containment(),
    close: () => opened.close(),
  };
}

function withoutLease({ mode }: LocalOptions): Omit<Parameters<typeof openPorts>[0], "scratch" | "own"> {
  return {
    root: "tool",
    mode: () => mode,
    check: async () => undefined,
    numberedAfter: () => 0,
    withLease: (effect) => effect(),
  };
}

/** What would be said of a shell command. *Contract:* runs nothing, and leaves nothing wherever it is cut off. */
export async function explainCommand(options: LocalOptions, script: string): Promise<Explained> {
  const scratch = unmadeScratch(`tool-${newSessionId(systemClock)}`);
  const opened = openPorts({ scratch, own: noSessionTools, ...withoutLease(options) }, options);
  try {
    return await explainScript(script, undefined, { options, ports: opened.ports });
  } finally {
    await opened.close();
  }
}

async function judge(
  prepared: PreparedCall,
  mode: Mode,
  ports: Ports,
): Promise<{ readonly effects: readonly Effect[]; readonly judged: Decision }> {
  const asking = { mode, keepsFiles: false, refusals: [] };
  const { effects, facts } = await analyzeCall(prepared, asking, ports);
  return { effects, judged: evaluate({ effects }, facts, ports.rules) };
}

/** What a person would be asked for, nobody is asked for here. */
function withoutPerson(outcome: Outcome, effects: readonly Effect[]): Outcome {
  if (!onlyReads(effects) || outcome.type !== "ok" || !outcome.facts?.denied) return outcome;
  return { type: "refused", rule: "read-outside", why: outcome.text };
}

async function explainScript(
  text: string,
  supposed: Tier | undefined,
  { options, ports }: { readonly options: LocalOptions; readonly ports: Ports },
): Promise<Explained> {
  const asking = { mode: options.mode, keepsFiles: options.checkpoints, refusals: [] };
  const { facts, parts } = await analyzeCall({ effects: [], script: { text, folder: "" } }, asking, ports);
  const containment = supposed ?? facts.containment;
  const explained = explain(parts, { ...facts, containment }, ports.rules);
  return { ...explained, mode: options.mode, sandbox: containment };
}
