/** `attempts.judged`: the result of each attempt, and which one is best. */
import * as v from "valibot";
import { type AttemptsVerdict, attemptResultSchema, judges } from "../attempts.ts";
import type { EventType } from "../session/event-type.ts";

export type AttemptsJudged = AttemptsVerdict;

const schema: v.GenericSchema<unknown, AttemptsJudged> = v.object({
  results: v.array(attemptResultSchema),
  winner: v.exactOptional(v.number()),
  by: v.picklist(judges),
  why: v.string(),
});

export const attemptsJudged: EventType<"attempts.judged", AttemptsJudged> = {
  name: "attempts.judged",
  version: 1,
  schema,
  apply: (session, { data }) =>
    session.attempts ? { ...session, attempts: { ...session.attempts, verdict: data } } : session,
};
