/** Switch model: another one goes on, from its own prompt, and is told so. */
import type { Draft, ModelSwitched, Session } from "@lathe/protocol";
import type { PerformContext } from "../ports.ts";

type Wanted = Pick<ModelSwitched, "to" | "why" | "because">;

export function switchModel(
  session: Session,
  { to, why, because }: Wanted,
  { agent }: PerformContext,
): Draft[] {
  const { prompt, note } = agent.takeOver(session, to);
  const data = { from: session.model, to, why, ...(because && { because }), ...(prompt && { prompt }) };
  const switched: Draft = { type: "model.switched", data };
  // A look at the model that was left, and the way back, leave the conversation as it is: nobody's prefix changes.
  const isLook = because === "recovery" || because === "relapse";
  if (because === "stuck")
    return [switched, { type: "notice.posted", data: { about: "switched", text: stuckText(note, why) } }];
  if (!note || isLook || (because === "fault" && session.turn?.handedOver)) return [switched];
  return [switched, { type: "notice.posted", data: { about: "switched", text: note } }];
}

function stuckText(note: string | undefined, why: string): string {
  const task =
    "Find out what is wrong, then hand in the plan anew with plan: what is left to be done, and how.";
  return [note, `You made the plan; ${why}.`, task].filter((one) => one !== undefined).join(" ");
}
