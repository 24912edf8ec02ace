/** `attempts.started`: several attempts at the task start, each in its own session. */
import * as v from "valibot";
import { type Attempts, attemptedSchema, judges } from "../attempts.ts";
import type { EventType } from "../session/event-type.ts";

export type AttemptsStarted = Omit<Attempts, "verdict" | "taking" | "settled">;

const schema: v.GenericSchema<unknown, AttemptsStarted> = v.object({
  attempts: v.array(attemptedSchema),
  judge: v.exactOptional(v.picklist(judges)),
  testCommand: v.exactOptional(v.string()),
  seed: v.number(),
  apply: v.boolean(),
  keepAll: v.boolean(),
});

export const attemptsStarted: EventType<"attempts.started", AttemptsStarted> = {
  name: "attempts.started",
  version: 1,
  schema,
  apply: (session, { data }) => ({
    ...session,
    attempts: data,
    children: [...session.children, ...data.attempts.map((one) => one.session)],
  }),
};
