/** Due plan: tells the model to make a plan, and calls the planner again if carrying it out gets stuck. */
import { isPlanning, type Session } from "@lathe/protocol";
import type { Action } from "../action.ts";
import { evidenceIn } from "./due-route.ts";

const planMode =
  "Plan mode: look around and ask, but change nothing. When you know what is to be done, hand in the plan with plan: goal, steps with their files, how each is checked. The user decides on it.";
const planFirst =
  "Plan first: look around, but leave the changes to a faster model that gets your plan. Hand it in with plan: goal, steps with their files, how each is checked.";
const planOver = "Plan mode is over: you may make changes again, as the permissions allow.";

export function duePlan(session: Session): Action | undefined {
  const { turn, settings, model } = session;
  if (isPlanning(session)) {
    if (session.planTold) return undefined;
    return { type: "post-notice", about: "plan", text: settings.mode === "plan" ? planMode : planFirst };
  }
  if (session.planTold) return { type: "post-notice", about: "plan", text: planOver };
  const { planner } = settings;
  if (!turn || planner === undefined || planner === model) return undefined;
  const evidence = evidenceIn(turn, turn.routedAt ?? 0);
  if (evidence === undefined) return undefined;
  const why = `the plan needs another look: ${evidence}`;
  return { type: "switch-model", to: planner, why, because: "stuck" };
}
