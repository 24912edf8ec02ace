/** `cancel.requested`: a person wants the running turn to stop. */
import * as v from "valibot";
import type { EventType } from "../session/event-type.ts";
import { rememberOffer } from "../session/offers.ts";

export interface CancelRequested {
  readonly by: string;
  readonly offer?: string;
}

const schema: v.GenericSchema<unknown, CancelRequested> = v.object({
  by: v.string(),
  offer: v.exactOptional(v.string()),
});

export const cancelRequested: EventType<"cancel.requested", CancelRequested> = {
  name: "cancel.requested",
  version: 1,
  schema,
  apply: (session, { data }) => {
    const next = rememberOffer(session, data.offer);
    if (next.turn) return { ...next, turn: { ...next.turn, cancelledBy: data.by } };
    // The cost of an open attempt must still be settled.
    const { compaction, ...idle } = next;
    return compaction?.attempt ? next : idle;
  },
};
