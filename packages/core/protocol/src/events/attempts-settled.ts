/** `attempts.settled`: the attempts are over: one was applied, or the person decides. */
import * as v from "valibot";
import type { EventType } from "../session/event-type.ts";

export interface AttemptsSettled {
  /** Counted from 0; absent if none was applied. */
  readonly taken?: number;
}

const schema: v.GenericSchema<unknown, AttemptsSettled> = v.object({ taken: v.exactOptional(v.number()) });

export const attemptsSettled: EventType<"attempts.settled", AttemptsSettled> = {
  name: "attempts.settled",
  version: 1,
  schema,
  // The attempts count as one step, so that a later rewind can return to the moment after them.
  apply: ({ attempts, ...session }, { data }) => ({
    ...session,
    step: session.step + 1,
    ...(attempts && { attempts: { ...attempts, settled: data } }),
  }),
};
