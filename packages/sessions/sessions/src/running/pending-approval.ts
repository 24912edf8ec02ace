/** Pending approval: what a person is asked to allow, and why the call needs an approval. */
import { analyzeCall, askingOf, toolContext } from "@lathe/agent";
import { evaluate, evaluateGrant } from "@lathe/policy";
import {
  type Effect,
  isFailure,
  type Ports,
  type PreparedCall,
  type ProposedFile,
  type Session,
} from "@lathe/protocol";

export interface PendingApproval {
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
  /** What files would say, of a call that only changes files, with the hunks of each. */
  readonly files?: readonly ApprovalFile[];
  /** Some of the hunks can be taken, and others not. */
  readonly hasParts?: true;
}

export interface ApprovalFile extends Omit<ProposedFile, "before" | "after"> {
  /** Each a unified diff of its own, without the names of files. */
  readonly hunks: readonly string[];
}

/** Undefined for a call that is unknown, or that its tool would not take. */
export async function findPendingApproval(
  id: string,
  session: Session,
  ports: Ports,
): Promise<PendingApproval | undefined> {
  const state = session.calls.find((one) => one.call.id === id);
  const call = state?.call;
  const tool = ports.tools.find(({ name }) => name === call?.tool);
  const prepared = call && tool?.prepare(parsed(call.input));
  if (!call || !prepared || isFailure(prepared)) return undefined;
  const beyond = state?.denied?.effects;
  const examined = await analyzeCall(
    beyond ? { effects: beyond } : prepared,
    askingOf(session, ports.treePermissions?.()),
    ports,
  );
  const { effects, facts } = examined;
  const { why } = beyond
    ? evaluateGrant(beyond, facts, ports.rules)
    : evaluate({ effects }, facts, ports.rules);
  // Never from the arguments: a tool that runs nothing may be given a field of that name.
  const files = beyond ? undefined : await filesOf(prepared, { call: id, session, ports });
  const command = prepared.script?.text ?? (beyond && commandOf(call.input, ports));
  return {
    tool: call.tool,
    input: call.input,
    effects,
    why,
    ...(beyond && { beyond }),
    ...(command !== undefined && { command }),
    ...(files && { files }),
    ...(files && files.flatMap(({ hunks }) => hunks).length > 1 && { hasParts: true }),
  };
}

interface Asking {
  readonly call: string;
  readonly session: Session;
  readonly ports: Ports;
}

/** Undefined for what cannot be planned: it fails by itself once it runs. */
async function filesOf(
  { propose }: PreparedCall,
  { call, session, ports }: Asking,
): Promise<readonly ApprovalFile[] | undefined> {
  if (!propose) return undefined;
  const { signal } = new AbortController();
  const proposed = await propose(toolContext(ports, { call, session, amid: { signal } }));
  if (isFailure(proposed) || proposed.length === 0) return undefined;
  const { proposedHunks } = await import("@lathe/edits");
  return proposed.map((file) => {
    const { before: _, after: _a, ...named } = file;
    return { ...named, hunks: proposedHunks(file) };
  });
}

/** Of a call that looked at a process. */
function commandOf(input: string, { sandbox }: Ports): string | undefined {
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
