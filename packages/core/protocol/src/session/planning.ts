/** Planning: which model leads while a plan is made, and which carries it out. */
import type { Plan, PlanMade } from "../plan.ts";
import type { Session } from "./session.ts";
import type { Settings } from "./settings.ts";

type Planned = { readonly settings: Settings; readonly plan?: Plan | undefined };

/** Whether a plan is what the session works on: before anything is changed, or until the planner has made one. */
export function isPlanning({ settings, plan }: Planned): boolean {
  return settings.mode === "plan" || (settings.planner !== undefined && plan === undefined);
}

/** The chain as it was chosen, with the planner before it while it plans. */
export function chosenModels(session: Planned): readonly string[] {
  const { models, planner } = session.settings;
  if (planner === undefined || !isPlanning(session)) return models;
  return [planner, ...models.filter((id) => id !== planner)];
}

/** A changed chain is a person's choice; with the same one a model that took over since stays, and one that a router chose. */
export function chooseModel(session: Session, before: readonly string[]): Session {
  const { router } = session.settings;
  const models = chosenModels(session);
  const [first] = models;
  if (first === undefined || (models.join() === before.join() && session.model !== "")) return session;
  // A router chooses when the turn begins; in the middle of one only a model it may no longer choose is left.
  const isUnrouted = session.turn?.routedAt === undefined;
  if (router && session.model !== "" && (isUnrouted || models.includes(session.model))) return session;
  const { chosen: _, ...rest } = session;
  if (session.model === "") return { ...rest, model: first };
  return first === session.model ? rest : { ...rest, chosen: first };
}

/** The plan is made: the session goes on with it, in another mode where one was chosen with it. */
export function withPlan(session: Session, { mode, ...plan }: PlanMade): Session {
  const before = chosenModels(session);
  const settings = mode === undefined ? session.settings : { ...session.settings, mode };
  const { planTold: _, ...rest } = session;
  const next: Session = { ...rest, settings, plan };
  const [first] = settings.models;
  // Also a planner that was asked again hands back.
  const isPlanners = settings.planner === session.model && !isPlanning(next);
  if (isPlanners && first !== undefined && first !== session.model) return { ...next, chosen: first };
  return chooseModel(next, before);
}
