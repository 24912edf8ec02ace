/** Ticket settings in the user's configuration: the tracker where alerts become issues. */
import type { TicketSettings } from "@lathe/telemetry";
import * as v from "valibot";

const address = v.pipe(
  v.string(),
  v.regex(
    /^(?:https:\/\/|http:\/\/(?:localhost|127\.0\.0\.1)(?=[:/]|$))\S+$/,
    "an https:// address: a token goes there",
  ),
);
const entries = {
  tokenCommand: v.exactOptional(v.pipe(v.array(v.string()), v.minLength(1))),
  baseUrl: v.exactOptional(address),
};

export const tickets: v.GenericSchema<unknown, TicketSettings> = v.variant("kind", [
  v.strictObject({
    kind: v.literal("github"),
    repository: v.pipe(v.string(), v.regex(/^[\w-]+\/(?!\.{1,2}$)[\w.-]+$/, "a repository as owner/name")),
    ...entries,
  }),
  v.strictObject({
    kind: v.literal("linear"),
    team: v.pipe(v.string(), v.regex(/^[\w-]+$/, "the id of a team")),
    ...entries,
  }),
]);
