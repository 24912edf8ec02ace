/** `step.failed`: an attempt gave no answer; whatever it had said is discarded. */
import * as v from "valibot";
import type { EventType } from "../event-type.ts";
import { type Failure, failureSchema } from "../failure.ts";

export interface StepFailed {
  readonly attempt: string;
  readonly model: string;
  readonly failure: Failure;
  /** The next attempt on this model waits until then; milliseconds since the epoch. */
  readonly retryAt?: number;
  readonly ms: number;
}

const schema: v.GenericSchema<unknown, StepFailed> = v.object({
  attempt: v.string(),
  model: v.string(),
  failure: failureSchema,
  retryAt: v.exactOptional(v.number()),
  ms: v.number(),
});

export const stepFailed: EventType<"step.failed", StepFailed> = {
  name: "step.failed",
  version: 1,
  schema,
  apply: (session, { data, at }) => {
    if (!session.turn) return session;
    const { attempt: _a, retryAt: _r, ...turn } = session.turn;
    // The death of a process says nothing of the model.
    if (data.failure.code === "owner-died") return { ...session, turn };
    const failed = {
      ...turn,
      failures: turn.failures + 1,
      modelFailures: turn.modelFailures + 1,
      failingSince: turn.failingSince ?? at,
      lastFailure: data.failure,
    };
    return { ...session, turn: data.retryAt === undefined ? failed : { ...failed, retryAt: data.retryAt } };
  },
};
