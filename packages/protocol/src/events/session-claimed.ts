/** `session.claimed`: one process took ownership; appends of older epochs are void from here on. */
import * as v from "valibot";
import type { EventType } from "../event-type.ts";
import type { Owner } from "../owner.ts";

export interface SessionClaimed {
  readonly epoch: number;
  readonly owner: Owner;
}

const schema: v.GenericSchema<unknown, SessionClaimed> = v.object({
  epoch: v.number(),
  owner: v.object({ host: v.string(), pid: v.number(), startedAt: v.number() }),
});

export const sessionClaimed: EventType<"session.claimed", SessionClaimed> = {
  name: "session.claimed",
  version: 1,
  schema,
  apply: (session, { data }) => ({ ...session, epoch: data.epoch, owner: data.owner }),
};
