/** `session.configured`: models, mode and limits from here on. */
import * as v from "valibot";
import { type Limits, limitsSchema } from "../budget.ts";
import { modeSchema } from "../decision.ts";
import type { EventType } from "../event-type.ts";
import { rememberOffer } from "../offers.ts";
import { type RouterSettings, routerModeSchema } from "../routing.ts";
import type { Session } from "../session.ts";
import type { Settings } from "../settings.ts";

export interface SessionConfigured {
  readonly settings: Settings;
  readonly limits: Limits;
  /** The inbox offer it came from. */
  readonly offer?: string;
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
  offer: v.exactOptional(v.string()),
});

export const sessionConfigured: EventType<"session.configured", SessionConfigured> = {
  name: "session.configured",
  version: 1,
  schema,
  apply: (session, { data }) => {
    const { settings, limits, offer } = data;
    const next = { ...rememberOffer(session, offer), settings, limits };
    return choose(next, session.settings.models);
  },
};

function isUnrouted({ turn }: Session): boolean {
  return turn?.routedAt === undefined;
}

/** Another chain is somebody's wish; with the same one a model that took over since stays, and one that a router chose. */
function choose(session: Session, before: readonly string[]): Session {
  const { models, router } = session.settings;
  const [first] = models;
  if (first === undefined || (models.join() === before.join() && session.model !== "")) return session;
  // A router chooses when the turn begins; in the middle of one only a model it may no longer choose is left.
  if (router && session.model !== "" && (isUnrouted(session) || models.includes(session.model)))
    return session;
  const { chosen: _, ...rest } = session;
  if (session.model === "") return { ...rest, model: first };
  return first === session.model ? rest : { ...rest, chosen: first };
}
