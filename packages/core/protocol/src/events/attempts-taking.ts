/** `attempts.taking`: an attempt is being applied; without `attempt`, the application was refused. */
import * as v from "valibot";
import type { EventType } from "../session/event-type.ts";

export interface AttemptsTaking {
  /** Counted from 0; absent if the application was refused. */
  readonly attempt?: number;
}

const schema: v.GenericSchema<unknown, AttemptsTaking> = v.object({ attempt: v.exactOptional(v.number()) });

export const attemptsTaking: EventType<"attempts.taking", AttemptsTaking> = {
  name: "attempts.taking",
  version: 1,
  schema,
  apply: (session, { data: { attempt } }) => {
    if (!session.attempts) return session;
    const { taking: _, ...attempts } = session.attempts;
    return { ...session, attempts: { ...attempts, ...(attempt !== undefined && { taking: attempt }) } };
  },
};
