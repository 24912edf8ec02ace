/** Auto-continue: when a background command that the agent waits for ends, it begins a turn. */
import { noticeText, type Session } from "@lathe/protocol";
import type { LoopPorts } from "../ports.ts";
import type { Ownership } from "./ownership.ts";

/** Turns in a row that nobody's words have begun: whoever is not there cannot stop what goes round. */
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

/** Who was stopped or has failed waits for a person. */
export function mayAutoContinue(session: Session): boolean {
  return !session.turn && session.lastEnd?.type === "done" && !reachedAutoContinueLimit(session);
}

/** It has gone on by itself as often as it may. */
export function reachedAutoContinueLimit({ woken = 0 }: Session): boolean {
  return woken >= maxWoken;
}
