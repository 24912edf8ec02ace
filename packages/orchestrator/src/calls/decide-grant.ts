/** Decide a grant: what the sandbox kept a call from is allowed, and the call runs again, or its outcome stands. */
import {
  allowForProject,
  allowForSession,
  type CallState,
  type Decision,
  type Draft,
  type EventData,
  type Outcome,
  type Session,
} from "@lathe/protocol";
import type { Ports } from "../ports.ts";
import { alwaysOf, answersFor, personDecision } from "./person-decision.ts";

export type HeldCall = CallState & Required<Pick<CallState, "denied">>;

export async function decideGrant(state: HeldCall, session: Session, ports: Ports): Promise<Draft[]> {
  const { denied, answer } = state;
  const call = state.call.id;
  const { effects } = denied;
  const { facts } = await ports.examine(session, { effects });
  const decision = answer ? personDecision(answer) : ports.evaluateGrant(effects, facts);
  if (decision.verdict === "allow") {
    const isLasting = answer?.text === allowForSession || answer?.text === allowForProject;
    const always = answer?.text === allowForProject ? await alwaysOf(answer, ports) : {};
    const grant = isLasting ? "session" : "call";
    return [{ type: "permission.decided", data: { call, effects, decision, grant, ...always } }];
  }
  const proposed = decision.verdict === "ask" ? await ports.proposeGrant(effects, facts) : [];
  if (decision.verdict === "ask" && session.settings.attended)
    return [ask({ call, effects, decision }, answersFor(proposed, ports))];
  const refused = answer ? ports.refusals(effects, facts) : [];
  const more = { ...(refused.length > 0 && { refused }), ...(proposed.length > 0 && { proposed }) };
  return [
    { type: "permission.decided", data: { call, effects, decision, ...more } },
    { type: "tool.completed", data: { call, outcome: withWhy(denied.outcome, decision), ms: 0 } },
  ];
}

/** For the session it can always be granted: the sandbox gives exactly what is named. */
function ask(
  { call, effects, decision }: EventData<"permission.decided">,
  { options, rules }: ReturnType<typeof answersFor>,
): Draft {
  const what = effects.map(({ kind, target }) => `${kind} ${target}`).join(", ");
  const text = `${decision.why}. Run it again with ${what} allowed?`;
  const answers = options.includes(allowForSession) ? options : ["allow", allowForSession, "deny"];
  const data = { call, kind: "permission", text, options: answers, ...(rules && { rules }) } as const;
  return { type: "question.asked", data };
}

function withWhy(outcome: Outcome, { why }: Decision): Outcome {
  return outcome.type === "ok" ? { ...outcome, text: `${outcome.text}\n[not granted: ${why}]` } : outcome;
}
