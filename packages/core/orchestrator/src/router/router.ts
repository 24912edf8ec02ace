/** Router: what a host needs of it, with everything it loads. */
import type { ModelInfo, RouteInputs, RouterSettings, Session } from "@lathe/protocol";
import { tierOf } from "./model-tiers.ts";
import { type Candidate, type Decided, route } from "./route.ts";
import { type Situation, situationOf } from "./situation.ts";
import type { Tier, Weights } from "./weights.ts";

/** What the router may choose of, and by what. */
export interface Routing {
  /** Models with a price; others are left out, as nothing can be said of their cost. */
  readonly models: readonly ModelInfo[];
  /** What somebody says of models, by id. */
  readonly tiers: Readonly<Record<string, Tier>>;
  readonly weights: Weights;
}

/** Those with a known price, in the order given. */
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

/** What the table would be for a task of its own, or for what is said next in a session. */
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
