/** Typed command: a shell command that a person typed themselves, in the sandbox; nobody is asked, but what is denied stays denied. */
import { type AgentPorts, type Asking, type CallContext, examineCall, toolContext } from "@lathe/agent";
import { evaluate } from "@lathe/policy";
import { failure, isFailure, type Outcome, type Session } from "@lathe/protocol";

interface Typing {
  readonly session: CallContext["session"] & Partial<Pick<Session, "rules">>;
  readonly signal: AbortSignal;
}

/** Names its output among the deltas. */
const typedCall = "typed";

/** *Contract:* its output comes as deltas of the call `typed`, too. */
export async function typedCommand(
  command: string,
  { session, signal }: Typing,
  ports: AgentPorts,
): Promise<Outcome> {
  const prepared = ports.tools.find(({ name }) => name === "shell")?.prepare({ command });
  if (!prepared || isFailure(prepared)) {
    return { type: "failed", failure: prepared ?? failure("unknown-tool", "there is no shell") };
  }
  // Typing it is the answer to the question that a model's call would raise; plan mode binds the model alone.
  const asking: Asking = {
    mode: "ask",
    keepsFiles: false,
    refusals: [],
    ...(session.rules && { allowed: session.rules }),
  };
  const { effects, facts } = await examineCall(prepared, asking, ports);
  const { verdict, rule, why } = evaluate({ effects }, facts, ports.rules);
  if (verdict === "deny") return { type: "refused", rule, why };
  if (facts.containment === "none" && !facts.uncontainedAllowed) {
    const text = "no sandbox works here, so it is not run; use a shell, or start with --no-sandbox";
    return { type: "refused", rule: "uncontained", why: text };
  }
  return prepared.run(toolContext(ports, { call: typedCall, session, amid: { signal } }));
}
