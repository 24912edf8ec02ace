/** `question.asked`: the turn waits for a person: to permit a call, or to answer the model's question. */
import * as v from "valibot";
import { updateCall } from "../calls.ts";
import type { EventType } from "../event-type.ts";

/** The answer to what the sandbox stopped that holds for all that follows. */
export const allowForSession = "allow for this session";

export interface QuestionAsked {
  readonly call: string;
  readonly kind: "permission" | "question";
  readonly text: string;
  readonly options: readonly string[];
}

const schema: v.GenericSchema<unknown, QuestionAsked> = v.object({
  call: v.string(),
  kind: v.picklist(["permission", "question"]),
  text: v.string(),
  options: v.array(v.string()),
});

export const questionAsked: EventType<"question.asked", QuestionAsked> = {
  name: "question.asked",
  version: 1,
  schema,
  apply: (session, { data: { call, ...asked }, at, seq }) => {
    const waiting = updateCall(session, call, (state) => ({ ...state, asked: { ...asked, seq } }));
    const { turn } = waiting;
    return turn && turn.askedAt === undefined ? { ...waiting, turn: { ...turn, askedAt: at } } : waiting;
  },
};
