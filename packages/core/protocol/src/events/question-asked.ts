/**
 * `question.asked`: the turn waits for a person, either to permit a call or to answer the model's question.
 */
import * as v from "valibot";
import { type Opinion, opinionSchema, type Rule, ruleSchema } from "../decision.ts";
import { type JudgedFiles, judgedFilesSchema } from "../judged-files.ts";
import { updateCall } from "../session/calls.ts";
import type { EventType } from "../session/event-type.ts";

/** The answers that apply to all later calls, in this session or in the project. */
export const allowForSession = "allow for this session";
export const allowForProject = "allow for this project";

export interface QuestionAsked {
  readonly call: string;
  readonly kind: "permission" | "question";
  readonly text: string;
  readonly options: readonly string[];
  /** The rules that an answer for the session or the project would add. */
  readonly rules?: readonly Rule[];
  /** The small model's reason for not finding the call harmless. */
  readonly opinion?: Opinion;
  /** For a call with a script: the files that the question is about. */
  readonly judged?: JudgedFiles;
}

/** Whether an answer applies to more than the call it was asked for. */
export function isForMore(answer: string): boolean {
  return answer === allowForSession || answer === allowForProject;
}

/** Whether an answer for more than one call also answers this other question, by allowing all it asks for. */
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
