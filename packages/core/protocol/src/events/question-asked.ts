/** `question.asked`: the turn waits for a person: to permit a call, or to answer the model's question. */
import * as v from "valibot";
import { type Opinion, opinionSchema, type Rule, ruleSchema } from "../decision.ts";
import { type JudgedFiles, judgedFilesSchema } from "../judged-files.ts";
import { updateCall } from "../session/calls.ts";
import type { EventType } from "../session/event-type.ts";

/** The answers that hold for all that follows, here or in the project. */
export const allowForSession = "allow for this session";
export const allowForProject = "allow for this project";

export interface QuestionAsked {
  readonly call: string;
  readonly kind: "permission" | "question";
  readonly text: string;
  readonly options: readonly string[];
  /** What an answer that holds for more than this once would allow from then on. */
  readonly rules?: readonly Rule[];
  /** What a small model said that did not find it harmless. */
  readonly opinion?: Opinion;
  /** Of a call with a script: the files that the question is about. */
  readonly judged?: JudgedFiles;
}

/** Whether an answer holds for more than the call it was asked for. */
export function isForMore(answer: string): boolean {
  return answer === allowForSession || answer === allowForProject;
}

/** Whether an answer that holds for more than one call answers this other question, too: it allows all that is asked for. */
export function isSettledBy(
  { kind, rules = [] }: Pick<QuestionAsked, "kind" | "rules">,
  answered: Pick<QuestionAsked, "rules">,
  answer: string,
): boolean {
  if (kind !== "permission" || rules.length === 0) return false;
  if (!isForMore(answer)) return false;
  const allowed = new Set(answered.rules?.map(meaningOf));
  return rules.every((rule) => allowed.has(meaningOf(rule)));
}

function meaningOf({ verdict, kinds, target, except, ignoreCase }: Rule): string {
  return JSON.stringify([verdict, kinds, target, except, ignoreCase]);
}

const schema: v.GenericSchema<unknown, QuestionAsked> = v.object({
  call: v.string(),
  kind: v.picklist(["permission", "question"]),
  text: v.string(),
  options: v.array(v.string()),
  rules: v.exactOptional(v.array(ruleSchema)),
  opinion: v.exactOptional(opinionSchema),
  judged: v.exactOptional(judgedFilesSchema),
});

export const questionAsked: EventType<"question.asked", QuestionAsked> = {
  name: "question.asked",
  version: 1,
  schema,
  apply: (session, { data: { call, judged, ...asked }, at, seq }) => {
    const waiting = updateCall(session, call, (state) => ({
      ...state,
      asked: { ...asked, seq },
      ...(judged && { judged }),
    }));
    const { turn } = waiting;
    return turn && turn.askedAt === undefined ? { ...waiting, turn: { ...turn, askedAt: at } } : waiting;
  },
};
