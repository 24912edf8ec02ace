/** `step.started`: one attempt on one model begins. */
import * as v from "valibot";
import { type SentRequest, sentSchema } from "../prompt-cache.ts";
import type { EventType } from "../session/event-type.ts";
import { markMoment } from "../session/marks.ts";
import { rememberSent } from "../session/sent-prompts.ts";

export interface StepStarted {
  /** Unique in the session; also identifies the reservation. */
  readonly attempt: string;
  readonly model: string;
  readonly sent?: SentRequest;
  /** Set if the attempt writes a summary, and is no step of the conversation. */
  readonly purpose?: "summary";
}

const schema: v.GenericSchema<unknown, StepStarted> = v.object({
  attempt: v.string(),
  model: v.string(),
  sent: v.exactOptional(sentSchema),
  purpose: v.exactOptional(v.literal("summary")),
});

export const stepStarted: EventType<"step.started", StepStarted> = {
  name: "step.started",
  version: 1,
  schema,
  apply: (session, { data, at }) => {
    if (data.purpose === "summary") {
      const wish = session.compaction ?? { why: "overflow" };
      const attempt = { id: data.attempt, model: data.model, startedAt: at };
      return { ...session, compaction: { ...wish, attempt } };
    }
    if (!session.turn) return session;
    const { retryAt: _, ...turn } = session.turn;
    const marks = markMoment(session, false);
    return {
      ...rememberSent(session, data.model, data.sent),
      marks,
      turn: { ...turn, attempt: { id: data.attempt, model: data.model, startedAt: at } },
    };
  },
};
