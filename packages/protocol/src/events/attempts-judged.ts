/** `attempts.judged`: what became of each attempt, and which one is best. */
import * as v from "valibot";
import { type AttemptsVerdict, judges } from "../attempts.ts";
import type { EventType } from "../event-type.ts";

export type AttemptsJudged = AttemptsVerdict;

const schema: v.GenericSchema<unknown, AttemptsJudged> = v.object({
  results: v.array(
    v.object({
      end: v.string(),
      problem: v.exactOptional(v.string()),
      tests: v.exactOptional(
        v.object({
          passed: v.boolean(),
          failures: v.exactOptional(v.number()),
          problem: v.exactOptional(v.string()),
          ms: v.number(),
        }),
      ),
      files: v.number(),
      added: v.number(),
      removed: v.number(),
      steps: v.number(),
      cost: v.number(),
      costUnknown: v.boolean(),
      ms: v.number(),
    }),
  ),
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
