/** `session.named`: a person named the session; the name is its title from then on. */
import * as v from "valibot";
import type { EventType } from "../session/event-type.ts";
import { rememberOffer } from "../session/offers.ts";

export interface SessionNamed {
  readonly name: string;
  /** The inbox message it came from. */
  readonly offer?: string;
}

const schema: v.GenericSchema<unknown, SessionNamed> = v.object({
  name: v.string(),
  offer: v.exactOptional(v.string()),
});

export const sessionNamed: EventType<"session.named", SessionNamed> = {
  name: "session.named",
  version: 1,
  schema,
  apply: (session, { data }) => ({ ...rememberOffer(session, data.offer), title: data.name }),
};
