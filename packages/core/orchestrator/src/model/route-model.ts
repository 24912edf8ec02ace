/** Route model: lets the router choose, and switches if it chose another model. */
import type { Draft, EventData, Session } from "@lathe/protocol";
import type { Action } from "../action.ts";
import type { PerformContext } from "../ports.ts";
import { switchModel } from "./switch-model.ts";

type Moment = Pick<Extract<Action, { type: "route" }>, "moment" | "evidence">;

export async function routeModel(
  session: Session,
  { moment, evidence }: Moment,
  context: PerformContext,
): Promise<readonly Draft[]> {
  const { ports } = context;
  const drawn = { moment, evidence, now: ports.clock.now(), random: ports.clock.random() };
  const decided = (await ports.route?.(session, drawn)) ?? unrouted(session, moment);
  const routed: Draft = { type: "model.routed", data: { from: session.model, ...decided } };
  return decided.to === session.model ? [routed] : [routed, ...switchModel(session, decided, context)];
}

/** Without a router, a host continues with the current model. */
function unrouted(session: Session, moment: Moment["moment"]): Omit<EventData<"model.routed">, "from"> {
  return {
    to: session.model,
    moment,
    mode: session.settings.router?.mode ?? "balanced",
    why: "there is no router here",
    features: {},
    odds: { light: 0, ordinary: 1, hard: 0 },
    table: [],
    propensity: 1,
  };
}
