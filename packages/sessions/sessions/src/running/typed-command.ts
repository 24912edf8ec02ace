/** Typed command: runs a command that a person typed, in the sandbox, without asking; denies still apply. */
import {
  type Asking,
  analyzeCall,
  type CallContext,
  runThrough,
  toolContext,
  typedLayers,
} from "@lathe/agent";
import { evaluate } from "@lathe/policy";
import { isFailure, type Outcome, type Ports, type Session } from "@lathe/protocol";
import { createShell, markTyped } from "@lathe/tools";

interface Typing {
  readonly session: CallContext["session"] & Partial<Pick<Session, "rules">>;
  readonly signal: AbortSignal;
}

/** The call ID of its output deltas. */
const typedCall = "typed";

/** The longest timeout a timer can have: the person who typed the command sees its output and can stop it. */
const patienceMs = 2 ** 31 - 1;
const behind = /^(.*[^&\s\\])\s*&\s*$/su;

/** *Contract:* runs to its end, or with a final `&` in the background; output comes as deltas of `typed`. */
export async function typedCommand(
  typed: string,
  { session, signal }: Typing,
  ports: Ports,
): Promise<Outcome> {
  const behindIt = behind.exec(typed)?.[1];
  const command = behindIt === undefined ? { command: typed } : { command: behindIt, background: true };
  const shell = createShell({ patienceMs });
  const prepared = shell.prepare(command);
  if (isFailure(prepared)) return { type: "failed", failure: prepared };
  // By typing it the person has answered the question that a model's call would raise; plan mode binds only
  // the model.
  const asking: Asking = {
    mode: "ask",
    keepsFiles: false,
    refusals: [],
    ...(session.rules && { allowed: session.rules }),
  };
  const { effects, facts } = await analyzeCall(prepared, asking, ports);
  const { verdict, rule, why } = evaluate({ effects }, facts, ports.rules);
  if (verdict === "deny") return { type: "refused", rule, why };
  if (facts.containment === "none" && !facts.uncontainedAllowed) {
    const text = "no sandbox works here, so it is not run; use a shell, or start with --no-sandbox";
    return { type: "refused", rule: "uncontained", why: text };
  }
  const context = toolContext(ports, { call: typedCall, session, amid: { signal } });
  const call = { id: typedCall, tool: shell.name, input: JSON.stringify(command) };
  const outcome = await runThrough(typedLayers, { call, prepared, effects, context, ports });
  const left = outcome.type === "ok" ? outcome.facts?.process : undefined;
  const process = left && ports.sandbox.processes().find(({ id }) => id === left.id);
  // The person who typed it keeps an eye on it, so the agent need not wait for it.
  if (process) markTyped(process);
  return outcome;
}
