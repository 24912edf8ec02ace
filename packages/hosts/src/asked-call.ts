/** Asked call: what a person who is asked for a permission decides about, and why there is a question. */
import { type AgentPorts, gatherFacts } from "@lathe/agent";
import { evaluate, evaluateGrant } from "@lathe/policy";
import { type Effect, isFailure, type Session } from "@lathe/protocol";

export interface AskedCall {
  readonly tool: string;
  /** The arguments, as JSON. */
  readonly input: string;
  readonly effects: readonly Effect[];
  /** Of a call that ran: what the sandbox kept it from, and what is asked for. */
  readonly beyond?: readonly Effect[];
  /** One sentence. */
  readonly why: string;
}

/** Undefined for a call that is unknown, or that its tool would not take. */
export async function findAskedCall(
  id: string,
  session: Session,
  ports: AgentPorts,
): Promise<AskedCall | undefined> {
  const state = session.calls.find((one) => one.call.id === id);
  const call = state?.call;
  const tool = ports.tools.find(({ name }) => name === call?.tool);
  const prepared = call && tool?.prepare(parsed(call.input));
  if (!call || !prepared || isFailure(prepared)) return undefined;
  const held = state?.denied?.effects;
  const effects = held ?? prepared.effects;
  const facts = await gatherFacts(effects, session.settings.mode, ports);
  const { why } = held ? evaluateGrant(held, facts, ports.rules) : evaluate(prepared, facts, ports.rules);
  return { tool: call.tool, input: call.input, effects, why, ...(held ? { beyond: held } : {}) };
}

function parsed(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return undefined;
  }
}
