/** Output schemas: what `lathe run --output-format json` and `stream-json` print. */
import { publicSchemas } from "@lathe/protocol/schemas";
import * as v from "valibot";

const { contact, delta, event, failure, turnEnd, usage } = publicSchemas;

export const runResultSchema: v.GenericSchema = v.object({
  session: v.string(),
  end: v.nullable(turnEnd),
  text: v.string(),
  output: v.exactOptional(v.unknown()),
  steps: v.number(),
  ms: v.number(),
  model: v.string(),
  usage,
  cost: v.nullable(v.number()),
  changed: v.array(v.string()),
  fork: v.exactOptional(v.string()),
  subagents: v.exactOptional(
    v.object({ sessions: v.number(), tokens: v.number(), cost: v.nullable(v.number()) }),
  ),
  network: v.array(contact),
});

/** One line. */
export const runStreamSchema: v.GenericSchema = v.union([
  v.strictObject({ event }),
  v.strictObject({ delta }),
  v.strictObject({ output: v.unknown() }),
  v.strictObject({ failure }),
]);
