/** Decide calls: validate arguments, ask policy, and where it says so a person. */
import {
  type CallState,
  type Decision,
  type Draft,
  type Effect,
  type EventData,
  failure,
  isFailure,
  type Outcome,
  type Session,
} from "@lathe/protocol";
import { decideGrant } from "./decide-grant.ts";
import { personDecision } from "./person-decision.ts";
import type { Entry, Reach } from "./ports.ts";
import { prepareCall } from "./prepare-call.ts";

export async function* decideCalls(
  ids: readonly string[],
  session: Session,
  reach: Reach,
): AsyncGenerator<Entry, void> {
  const states = session.calls.filter((state) => ids.includes(state.call.id));
  const drafts = await Promise.all(states.map((state) => decideCall(state, session, reach)));
  yield { drafts: drafts.flat(), durable: false };
}

async function decideCall(state: CallState, session: Session, { ports }: Reach): Promise<Draft[]> {
  const call = state.call.id;
  const prepared = prepareCall(state.call, ports.tools);
  if (isFailure(prepared)) return [completed(call, { type: "failed", failure: prepared })];
  const { question } = prepared;
  if (state.denied) return decideGrant({ ...state, denied: state.denied }, session, ports);
  const attended = session.settings.attended;
  if (question) {
    if (state.answer) return [completed(call, { type: "ok", text: state.answer.text })];
    if (attended) return [{ type: "question.asked", data: { call, kind: "question", ...question } }];
    const text = "nobody is there to answer; decide for yourself and say what you assumed";
    return [completed(call, { type: "failed", failure: failure("no-person", text) })];
  }
  const { effects, facts } = await ports.examine(session, prepared);
  const decision = state.answer
    ? personDecision(state.answer.text, state.answer.by)
    : ports.evaluate(effects, facts);
  if (decision.verdict === "ask" && attended) return [ask(state, effects, decision)];
  // What a person denied stays denied; where nobody could be asked, the turn ends instead.
  const refused = state.answer && decision.verdict === "deny" ? ports.refusals(effects, facts) : [];
  return record({ call, effects, decision, ...(refused.length > 0 && { refused }) });
}

function record(data: EventData<"permission.decided">): Draft[] {
  const { call, decision } = data;
  const decided: Draft = { type: "permission.decided", data };
  if (decision.verdict === "allow") return [decided];
  return [decided, completed(call, { type: "refused", rule: decision.rule, why: decision.why })];
}

function ask(state: CallState, effects: readonly Effect[], decision: Decision): Draft {
  const what = effects.map((effect) => `${effect.kind} ${effect.target}`).join(", ");
  const text = `${state.call.tool} wants to ${what} (${decision.rule}: ${decision.why})`;
  return {
    type: "question.asked",
    data: { call: state.call.id, kind: "permission", text, options: ["allow", "deny"] },
  };
}

function completed(call: string, outcome: Outcome): Draft {
  return { type: "tool.completed", data: { call, outcome, ms: 0 } };
}
