/** `session.configured`: models, mode and limits from here on. */
import * as v from "valibot";
import { type Limits, limitsSchema } from "../budget.ts";
import { modeSchema } from "../decision.ts";
import type { EventType } from "../event-type.ts";
import type { Settings } from "../settings.ts";

export interface SessionConfigured {
  readonly settings: Settings;
  readonly limits: Limits;
}

const schema: v.GenericSchema<unknown, SessionConfigured> = v.object({
  settings: v.object({
    models: v.array(v.string()),
    mode: modeSchema,
    attended: v.boolean(),
    checkpoints: v.exactOptional(v.boolean()),
  }),
  limits: limitsSchema,
});

export const sessionConfigured: EventType<"session.configured", SessionConfigured> = {
  name: "session.configured",
  version: 1,
  schema,
  apply: (session, { data }) => ({
    ...session,
    settings: data.settings,
    limits: data.limits,
    model: data.settings.models[0] ?? session.model,
  }),
};
