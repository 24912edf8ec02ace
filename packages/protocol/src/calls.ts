/** The calls of the latest answer: updating one, and closing the answer when all have outcomes. */
import type { ToolResultPart } from "./message.ts";
import { type Outcome, outcomeText, type Shown } from "./outcome.ts";
import type { CallState, Session, Turn } from "./session.ts";

/** Answers the loop guard looks back on: five rounds of its longest cycle, four. */
const lookback = 20;

export function updateCall(session: Session, id: string, change: (state: CallState) => CallState): Session {
  return { ...session, calls: session.calls.map((state) => (state.call.id === id ? change(state) : state)) };
}

/** Once every call has an outcome: one tool message, results in source order, and the facts they carry. */
export function closeAnswer(session: Session): Session {
  const done = session.calls.flatMap(({ call, outcome }) => (outcome ? [{ call, outcome }] : []));
  if (done.length === 0 || done.length < session.calls.length) return session;
  const parts = done.map(
    ({ call, outcome }): ToolResultPart => ({
      type: "tool-result",
      id: call.id,
      tool: call.tool,
      text: outcomeText(outcome),
      failed: outcome.type !== "ok",
    }),
  );
  const outcomes = done.map(({ outcome }) => outcome);
  const record = {
    calls: parts.map((part, i) => ({ tool: part.tool, input: done[i]?.call.input ?? "", result: part.text })),
  };
  return {
    ...session,
    ...(session.turn ? { turn: withoutReason(session.turn) } : {}),
    calls: [],
    messages: [...session.messages, { role: "tool", parts }],
    shown: foldShown(session.shown, outcomes),
    todos: outcomes.reduce((todos, outcome) => factsOf(outcome).todos ?? todos, session.todos),
    recent: outcomes.some(madeProgress) ? [] : [...session.recent, record].slice(-lookback),
  };
}

function withoutReason({ lastReason: _, ...turn }: Turn): Turn {
  return turn;
}

function factsOf(outcome: Outcome): NonNullable<Extract<Outcome, { type: "ok" }>["facts"]> {
  return (outcome.type === "ok" && outcome.facts) || {};
}

function madeProgress(outcome: Outcome): boolean {
  const { changed, process } = factsOf(outcome);
  return (changed?.length ?? 0) > 0 || (process?.running === true && process.produced);
}

function foldShown(shown: Session["shown"], outcomes: readonly Outcome[]): Session["shown"] {
  const news = outcomes.flatMap((outcome) => factsOf(outcome).shown ?? []);
  if (news.length === 0) return shown;
  const next: Record<string, readonly Shown[]> = { ...shown };
  for (const one of news) next[one.path] = [...(next[one.path] ?? []), one];
  return next;
}
