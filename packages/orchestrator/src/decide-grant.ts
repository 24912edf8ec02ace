/** Decide a grant: what the sandbox kept a call from is allowed, and the call runs again, or its outcome stands. */
import {
  allowForSession,
  type CallState,
  type Decision,
  type Draft,
  type Effect,
  type Outcome,
  type Session,
} from "@lathe/protocol";
import { personDecision } from "./person-decision.ts";
import type { Ports } from "./ports.ts";

export type HeldCall = CallState & Required<Pick<CallState, "denied">>;

export async function decideGrant(state: HeldCall, session: Session, ports: Ports): Promise<Draft[]> {
  const { denied, answer } = state;
  const call = state.call.id;
  const { effects } = denied;
  const { facts } = await ports.examine(session, { effects });
  const decision = answer
    ? personDecision(answer.text === allowForSession ? "allow" : answer.text, answer.by)
    : ports.evaluateGrant(effects, facts);
  if (decision.verdict === "allow") {
    const grant = answer?.text === allowForSession ? "session" : "call";
    return [{ type: "permission.decided", data: { call, effects, decision, grant } }];
  }
  if (decision.verdict === "ask" && session.settings.attended) return [ask(call, effects, decision)];
  const refused = answer ? ports.refusals(effects, facts) : [];
  return [
    { type: "permission.decided", data: { call, effects, decision, ...(refused.length > 0 && { refused }) } },
    { type: "tool.completed", data: { call, outcome: withWhy(denied.outcome, decision), ms: 0 } },
  ];
}

function ask(call: string, effects: readonly Effect[], { why }: Decision): Draft {
  const what = effects.map(({ kind, target }) => `${kind} ${target}`).join(", ");
  const text = `${why}. Run it again with ${what} allowed?`;
  const options = ["allow", allowForSession, "deny"];
  return { type: "question.asked", data: { call, kind: "permission", text, options } };
}

function withWhy(outcome: Outcome, { why }: Decision): Outcome {
  return outcome.type === "ok" ? { ...outcome, text: `${outcome.text}\n[not granted: ${why}]` } : outcome;
}
