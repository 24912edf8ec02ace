/** Router: the functions that a host needs, with everything they load. */
import type { ModelInfo, RouteInputs, RouterSettings, Session } from "@lathe/protocol";
import { tierOf } from "./model-tiers.ts";
import { type Candidate, type Decided, route } from "./route.ts";
import { type Situation, situationOf } from "./situation.ts";
import type { Tier, Weights } from "./weights.ts";

/** The models the router may choose, and its weights. */
export interface Routing {
  /** Models with a price; others are left out, since their cost is unknown. */
  readonly models: readonly ModelInfo[];
  /** Configured tiers of models, by ID. */
  readonly tiers: Readonly<Record<string, Tier>>;
  readonly weights: Weights;
}

/** The models with a known price, in the given order. */
function candidatesOf({ models, tiers }: Routing): readonly Candidate[] {
  return models.flatMap((info) => {
    const { price } = info;
    return price ? [{ info, tier: tiers[info.id] ?? tierOf(info), price }] : [];
  });
}

/** *Contract:* pure; `routing` has at least one model with a price. */
export function routeSession(
  session: Session,
  { moment, evidence, now, random }: RouteInputs,
  routing: Routing & Pick<RouterSettings, "mode" | "explore">,
): Decided {
  const { weights, mode, explore } = routing;
  const at = { moment, now, cacheMs: weights.cacheMs, ...(evidence !== undefined && { evidence }) };
  const options = { weights, mode, random, ...(explore !== undefined && { explore }) };
  return route(situationOf(session, at), candidatesOf(routing), options);
}

/** The table for a separate task, or for the next message of a session. */
export function routeTask(
  task: string,
  session: Session,
  routing: Routing & Pick<RouterSettings, "mode"> & { readonly now: number },
): { readonly decided: Decided; readonly situation: Situation } {
  const { weights, mode, now } = routing;
  const before = situationOf(session, { moment: "turn", now, cacheMs: weights.cacheMs });
  const said = Math.ceil(task.length / 3.6);
  const situation = { ...before, request: task, context: before.context + said };
  return { decided: route(situation, candidatesOf(routing), { weights, mode }), situation };
}
