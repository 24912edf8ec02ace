/** Asked call: what a person who is asked for a permission decides about, and why there is a question. */
import { type AgentPorts, askingOf, examineCall } from "@lathe/agent";
import { evaluate, evaluateGrant } from "@lathe/policy";
import { type Effect, isFailure, type Session } from "@lathe/protocol";

export interface AskedCall {
  /** The subagent whose call it is; absent for the session's own. */
  readonly by?: string;
  readonly tool: string;
  /** The arguments, as JSON. */
  readonly input: string;
  /** The shell command that would run, or run again: of a tool that runs one. */
  readonly command?: string;
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
  const beyond = state?.denied?.effects;
  const examined = await examineCall(
    beyond ? { effects: beyond } : prepared,
    askingOf(session, ports.kin?.()),
    ports,
  );
  const { effects, facts } = examined;
  const { why } = beyond
    ? evaluateGrant(beyond, facts, ports.rules)
    : evaluate({ effects }, facts, ports.rules);
  // Never from the arguments: a tool that runs nothing may be given a field of that name.
  const command = prepared.script?.text ?? (beyond && commandOf(call.input, ports));
  return {
    tool: call.tool,
    input: call.input,
    effects,
    why,
    ...(beyond && { beyond }),
    ...(command !== undefined && { command }),
  };
}

/** Of a call that looked at a process. */
function commandOf(input: string, { sandbox }: AgentPorts): string | undefined {
  const { id } = Object(parsed(input)) as { readonly id?: unknown };
  return sandbox.processes().find((process) => process.id === id)?.command.script;
}

function parsed(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return undefined;
  }
}
