/** `network.decided`: the sandbox's proxy allowed or denied a command's connection to a host. */
import * as v from "valibot";
import type { Contact, NetworkDecided } from "../network.ts";
import type { EventType } from "../session/event-type.ts";

const schema: v.GenericSchema<unknown, NetworkDecided> = v.object({
  host: v.string(),
  port: v.number(),
  verdict: v.picklist(["allowed", "refused", "failed"]),
  times: v.pipe(v.number(), v.integer(), v.minValue(1)),
  rule: v.exactOptional(v.string()),
  why: v.string(),
  address: v.exactOptional(v.string()),
});

export const networkDecided: EventType<"network.decided", NetworkDecided> = {
  name: "network.decided",
  version: 1,
  schema,
  apply: (session, { data: { host, port, verdict, times } }) => {
    const isSame = (one: Contact): boolean =>
      one.host === host && one.port === port && one.verdict === verdict;
    const before = session.contacts.find(isSame)?.times ?? 0;
    const others = session.contacts.filter((one) => !isSame(one));
    return { ...session, contacts: [...others, { host, port, verdict, times: before + times }] };
  },
};
