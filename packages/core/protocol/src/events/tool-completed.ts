/** `tool.completed`: a call has its outcome; after the last one of an answer, the model gets all results. */
import * as v from "valibot";
import { type Outcome, outcomeSchema } from "../outcome.ts";
import { closeAnswer, updateCall } from "../session/calls.ts";
import type { EventType } from "../session/event-type.ts";

export interface ToolCompleted {
  readonly call: string;
  readonly outcome: Outcome;
  readonly ms: number;
}

const schema: v.GenericSchema<unknown, ToolCompleted> = v.object({
  call: v.string(),
  outcome: outcomeSchema,
  ms: v.number(),
});

export const toolCompleted: EventType<"tool.completed", ToolCompleted> = {
  name: "tool.completed",
  version: 1,
  schema,
  apply: (session, { data }) =>
    closeAnswer(updateCall(session, data.call, (state) => ({ ...state, outcome: data.outcome }))),
};
