/** `session.configured`: models, mode and limits from here on. */
import * as v from "valibot";
import { type Limits, limitsSchema } from "../budget.ts";
import { modeSchema } from "../decision.ts";
import type { EventType } from "../event-type.ts";
import { type RouterSettings, routerModeSchema } from "../routing.ts";
import type { Settings } from "../settings.ts";

export interface SessionConfigured {
  readonly settings: Settings;
  readonly limits: Limits;
}

const router: v.GenericSchema<unknown, RouterSettings> = v.object({
  mode: routerModeSchema,
  explore: v.exactOptional(v.number()),
});

const schema: v.GenericSchema<unknown, SessionConfigured> = v.object({
  settings: v.object({
    models: v.array(v.string()),
    router: v.exactOptional(router),
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
    model: isKept(session.model, data.settings) ? session.model : (data.settings.models[0] ?? session.model),
  }),
};

/** A router has chosen it, and may still choose it. */
function isKept(model: string, { models, router }: Settings): boolean {
  return router !== undefined && models.includes(model);
}
