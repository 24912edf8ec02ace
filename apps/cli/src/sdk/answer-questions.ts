/** Answer questions: what a session asks a person, answered by the program. */
import type { LocalSession } from "@lathe/hosts/local";
import type { Event } from "@lathe/protocol";
import type { AskedCall } from "../question-text.ts";
import type { Question, QuestionedCall } from "./question.ts";

export function answerQuestions(
  answer: (question: Question) => Promise<string> | string,
  current: () => LocalSession | undefined,
): (event: Event) => void {
  const ask = async ({ data, seq }: Event<"question.asked">): Promise<void> => {
    const session = current();
    if (!session) return;
    const asked = data.kind === "permission" ? await session.askedCall(data.call) : undefined;
    const call = asked && withoutFiles(asked);
    const { kind, text, options } = data;
    try {
      await session.answer(data.call, seq, await answer({ kind, text, options, ...(call && { call }) }));
    } catch {
      // A program that cannot answer lets nothing happen.
      await session.cancel("the program, which could not answer");
    }
  };
  return (event) => {
    if (event.type === "question.asked") void ask(event);
  };
}

/** A program takes an edit whole or not; what it would do stands in its arguments. */
function withoutFiles(asked: NonNullable<AskedCall>): QuestionedCall {
  const { files: _, hasParts: _p, ...call } = asked;
  return call;
}
