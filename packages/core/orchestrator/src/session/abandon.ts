/** Abandon: closes everything open, so that the conversation stays valid for any provider. */
import type { Draft, Failure, Session } from "@lathe/protocol";

/** An `interrupted` outcome for each call without one; a call that waits for a grant keeps its outcome. */
export function closeCalls(session: Session, failure: Failure): Draft[] {
  return session.calls
    .filter((state) => !state.outcome)
    .map((state) => ({
      type: "tool.completed",
      data: {
        call: state.call.id,
        outcome: state.denied?.outcome ?? { type: "interrupted", failure, text: "" },
        ms: 0,
      },
    }));
}

/** Ends a turn from any state: open calls, an open attempt with its reservation, then the turn. */
export function abandonTurn(session: Session, failure: Failure): Draft[] {
  if (!session.turn) return [];
  const attempt = session.compaction?.attempt ?? session.turn.attempt;
  const reserved = attempt && session.account.reserved[attempt.id];
  const settled: Draft[] = reserved
    ? [{ type: "budget.settled", data: { attempt: attempt.id, ...reserved } }]
    : [];
  const failed: Draft[] = attempt
    ? [{ type: "step.failed", data: { attempt: attempt.id, model: attempt.model, failure, ms: 0 } }]
    : [];
  return [
    ...closeCalls(session, failure),
    ...settled,
    ...failed,
    { type: "turn.ended", data: { end: { type: "failed", failure } } },
  ];
}
