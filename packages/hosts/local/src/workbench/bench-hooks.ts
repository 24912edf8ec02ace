/** Bench hooks: those that have a say in single calls outside any session; loaded where any are written down. */

import { loadHooks } from "@lathe/extensions";
import { hookedCall, hookedDecision } from "@lathe/orchestrator/hooked-decision";
import type { Decision, Effect, HookedCall, Hooks, Outcome, Ports, PreparedCall } from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";
export interface BenchCall {
  readonly tool: string;
  readonly input: unknown;
  readonly prepared: PreparedCall;
  readonly effects: readonly Effect[];
  readonly signal: AbortSignal;
}

export interface BenchHooks {
  decide(call: BenchCall, decision: Decision): Promise<Decision>;
  ran(call: BenchCall, outcome: Outcome): Promise<Outcome>;
}

export function openBenchHooks(id: string, options: LocalOptions, ports: Ports): BenchHooks {
  let halted: string | undefined;
  let opening: Promise<Hooks | undefined> | undefined;
  const load = async (): Promise<Hooks | undefined> => {
    const { cwd, env, mode, onRemark = () => undefined } = options;
    const cancel = (by: string): void => {
      halted = by;
    };
    const session = () => ({ id, settings: { mode } });
    return loadHooks({ cwd, env, log: "", session, ports, onRemark, cancel });
  };
  const open = (): Promise<Hooks | undefined> => {
    opening ??= load();
    return opening;
  };
  return {
    decide: async (call, decision) => {
      const hooks = await open();
      if (!hooks) return decision;
      halted = undefined;
      const said = await hookedDecision(hookedOf(call), decision, { hooks, signal: call.signal });
      // There is no turn to end: the call is not made.
      return halted === undefined ? said : { verdict: "deny", rule: "hook", why: `stopped by ${halted}` };
    },
    ran: async (call, outcome) => {
      const hooks = await open();
      return hooks ? hooks.ran(hookedOf(call), outcome, call.signal) : outcome;
    },
  };
}

function hookedOf({ tool, input, prepared, effects }: BenchCall): HookedCall {
  return hookedCall({ id: "tool", tool, input: JSON.stringify(input) }, prepared, effects);
}
