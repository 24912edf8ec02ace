/** Auto-continue: begins a turn when a background command ends that the agent waits for. */
import { noticeText, type Session } from "@lathe/protocol";
import type { LoopPorts } from "../ports.ts";
import type { Ownership } from "./ownership.ts";

/** Maximum consecutive turns without a message: a person who is away cannot stop an endless loop. */
const maxWoken = 8;

/** *Contract:* whether a turn is open now; throws `AppendRefused`. */
export async function autoContinue(
  own: Ownership,
  { background }: Pick<LoopPorts, "background">,
): Promise<boolean> {
  const isWanted = (): boolean =>
    mayAutoContinue(own.session()) && !own.isCalledOff() && background?.wakes() === true;
  if (!isWanted()) return false;
  const finishedCommands = await background?.finishedCommands();
  if (!finishedCommands || !isWanted()) return false;
  const parts = [{ type: "text", text: noticeText(finishedCommands.text) }] as const;
  const data = { parts, ended: finishedCommands.ended };
  await own.append({ drafts: [{ type: "message.received", data }], durable: true });
  background?.told(finishedCommands.ended);
  return true;
}

/** A stopped or failed session waits for a person. */
export function mayAutoContinue(session: Session): boolean {
  return !session.turn && session.lastEnd?.type === "done" && !reachedAutoContinueLimit(session);
}

/** Whether it has continued by itself as often as allowed. */
export function reachedAutoContinueLimit({ woken = 0 }: Session): boolean {
  return woken >= maxWoken;
}
