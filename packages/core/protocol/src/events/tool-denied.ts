/** `tool.denied`: the sandbox kept a call from something; the outcome is held until that is granted or refused. */
import * as v from "valibot";
import { type Effect, effectSchema } from "../decision.ts";
import { type Outcome, outcomeSchema } from "../outcome.ts";
import { updateCall } from "../session/calls.ts";
import type { EventType } from "../session/event-type.ts";

export interface ToolDenied {
  readonly call: string;
  readonly effects: readonly Effect[];
  readonly outcome: Outcome;
  readonly ms: number;
}

const schema: v.GenericSchema<unknown, ToolDenied> = v.object({
  call: v.string(),
  effects: v.array(effectSchema),
  outcome: outcomeSchema,
  ms: v.number(),
});

export const toolDenied: EventType<"tool.denied", ToolDenied> = {
  name: "tool.denied",
  version: 1,
  schema,
  apply: (session, { data: { call, effects, outcome } }) =>
    updateCall(session, call, ({ startedAt: _, decision: __, answer: ___, ...state }) => ({
      ...state,
      denied: { effects, outcome },
    })),
};
