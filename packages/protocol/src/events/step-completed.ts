/** `step.completed`: the model answered; its tool calls now wait to be decided. */
import * as v from "valibot";
import type { EventType } from "../event-type.ts";
import { type AssistantPart, assistantPartsSchema } from "../message.ts";
import type { FinishReason } from "../model.ts";
import type { CallState } from "../session.ts";
import { addUsage, noUsage, type Usage, usageSchema } from "../usage.ts";

export interface StepCompleted {
  readonly attempt: string;
  readonly model: string;
  readonly reason: FinishReason;
  readonly parts: readonly AssistantPart[];
  readonly usage?: Usage;
  /** US dollars; absent when the price or the usage is unknown. */
  readonly cost?: number;
  /** Milliseconds from request to the first delta, and to the end. */
  readonly firstMs: number;
  readonly ms: number;
  /** Unknown fields of the reply, as JSON text. */
  readonly raw?: string;
}

const schema: v.GenericSchema<unknown, StepCompleted> = v.object({
  attempt: v.string(),
  model: v.string(),
  reason: v.picklist(["stop", "tool-calls", "length", "refused"]),
  parts: assistantPartsSchema,
  usage: v.exactOptional(usageSchema),
  cost: v.exactOptional(v.number()),
  firstMs: v.number(),
  ms: v.number(),
  raw: v.exactOptional(v.string()),
});

export const stepCompleted: EventType<"step.completed", StepCompleted> = {
  name: "step.completed",
  version: 1,
  schema,
  apply: (session, { data, at }) => {
    if (!session.turn) return session;
    const { attempt: _a, lastFailure: _f, failingSince: _s, retryAt: _r, ...turn } = session.turn;
    const calls = data.parts.flatMap((part): CallState[] =>
      part.type === "tool-call" ? [{ call: part, effects: [] }] : [],
    );
    const said = data.parts.length > 0;
    return {
      ...session,
      messages: said ? [...session.messages, { role: "assistant", parts: data.parts }] : session.messages,
      calls,
      step: session.step + 1,
      caches: data.usage
        ? { ...session.caches, [data.model]: { tokens: data.usage.input, at } }
        : session.caches,
      usage: addUsage(session.usage, data.usage ?? noUsage),
      turn: {
        ...turn,
        steps: turn.steps + 1,
        failures: 0,
        modelFailures: 0,
        lastReason: data.reason,
        cut: data.reason === "length" ? turn.cut + 1 : 0,
      },
    };
  },
};
