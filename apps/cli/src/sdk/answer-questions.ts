/** Answer questions: what a session asks a person, answered by the program. */
import type { LocalSession } from "@lathe/hosts/local";
import type { Event } from "@lathe/protocol";
import type { Question } from "./question.ts";

export function answerQuestions(
  answer: (question: Question) => Promise<string> | string,
  current: () => LocalSession | undefined,
): (event: Event) => void {
  const ask = async ({ data, seq }: Event<"question.asked">): Promise<void> => {
    const session = current();
    if (!session) return;
    const call = data.kind === "permission" ? await session.askedCall(data.call) : undefined;
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
