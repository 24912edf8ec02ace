/** The questions of a session that wait for a person: they are part of its state, whichever client shows them. */
import type { QuestionAsked } from "./events/question-asked.ts";
import type { Session } from "./session/session.ts";

/** What `question.asked` said, and the `seq` of that event, by which an answer names the question. */
export type OpenQuestion = Pick<QuestionAsked, "call" | "kind" | "text" | "options" | "rules"> & {
  readonly seq: number;
};

/** In the order in which they were asked. */
export function openQuestions({ calls }: Pick<Session, "calls">): readonly OpenQuestion[] {
  return calls
    .flatMap(({ call, asked, outcome }) => (asked && !outcome ? [{ ...asked, call: call.id }] : []))
    .sort((a, b) => a.seq - b.seq);
}
