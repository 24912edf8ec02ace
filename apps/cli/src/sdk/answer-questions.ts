/** Answer questions: what a session asks a person, answered by the program. */

import {
  causeText,
  choosePart,
  type EditPart,
  type Event,
  type Failure,
  failure,
  isFailure,
} from "@lathe/protocol";
import type { PartialAnswer, Question, QuestionedCall } from "@lathe/rpc";
import type { OpenSession as LocalSession } from "@lathe/sessions";

type Answer = (question: Question) => Promise<string | PartialAnswer> | string | PartialAnswer;

interface Asking {
  readonly session: () => LocalSession | undefined;
  /** Tells what is wrong with an answer. */
  readonly remark: (text: string) => void;
}

export function answerQuestions(
  answer: Answer,
  { session: current, remark }: Asking,
): (event: Event) => void {
  const ask = async ({ data, seq }: Event<"question.asked">): Promise<void> => {
    const session = current();
    if (!session) return;
    const call = data.kind === "permission" ? await session.askedCall(data.call) : undefined;
    const { kind, text, options } = data;
    try {
      const given = readAnswer(await answer({ kind, text, options, ...(call && { call }) }), call);
      if (!isFailure(given)) {
        const refused = await session.answer(data.call, seq, given.answer, given.part);
        if (refused) throw new Error(refused.text);
        return;
      }
      remark(given.text);
    } catch (cause) {
      remark(`the program could not answer: ${causeText(cause)}`);
    }
    // A program that cannot answer lets nothing happen.
    await session.cancel("the program, which could not answer");
  };
  return (event) => {
    if (event.type === "question.asked") void ask(event);
  };
}

interface Read {
  readonly answer: string;
  readonly part?: EditPart;
}

/** Programs without types give whatever they like; nobody's slip of the pen takes a whole edit. */
function readAnswer(given: unknown, call: QuestionedCall | undefined): Read | Failure {
  if (typeof given === "string") return { answer: given };
  const { answer, take, words, ...more } = Object(given) as Readonly<Record<string, unknown>>;
  const [unknown] = Object.keys(more);
  if (typeof answer !== "string" || unknown !== undefined) {
    return wrong("it is a text, or an object of answer, take and words", unknown);
  }
  if (words !== undefined && typeof words !== "string") return wrong("its words are a text");
  if (take === undefined) return words === undefined ? { answer } : wrong("words go with what is taken");
  if (!isTaken(take)) return wrong("take is a list of files, each with its path and hunks: numbers from 0");
  if (answer !== "allow") return wrong(`only "allow" takes some of an edit, not "${answer}"`);
  if (!call?.hasParts || !call.files) return wrong("what was asked for has no parts: answer allow or deny");
  const part = choosePart(call.files, take);
  if (isFailure(part)) return part;
  return { answer, part: { ...part, ...(words !== undefined && { words }) } };
}

function isTaken(take: unknown): take is NonNullable<PartialAnswer["take"]> {
  const isFile = (one: unknown): boolean => {
    const { path, hunks, ...more } = Object(one) as Readonly<Record<string, unknown>>;
    return typeof path === "string" && Array.isArray(hunks) && Object.keys(more).length === 0;
  };
  return Array.isArray(take) && take.every(isFile);
}

function wrong(why: string, field?: string): Failure {
  const text = `this is no answer: ${why}${field === undefined ? "" : `, not ${field}`}`;
  return failure("invalid-arguments", text, { who: "user" });
}
