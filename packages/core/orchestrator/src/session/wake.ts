/** Wake: a command that the agent left in the background, and whose end it waits for, begins a turn when it ends. */
import { noticeText, type Session } from "@lathe/protocol";
import type { LoopPorts } from "../ports.ts";
import type { Ownership } from "./ownership.ts";

/** Turns in a row that nobody's words have begun: whoever is not there cannot stop what goes round. */
const mostWoken = 8;

/** *Contract:* whether a turn is open now; throws `AppendRefused`. */
export async function wake(own: Ownership, { background }: Pick<LoopPorts, "background">): Promise<boolean> {
  const isWanted = (): boolean =>
    mayWake(own.session()) && !own.isCalledOff() && background?.wakes() === true;
  if (!isWanted()) return false;
  const endings = await background?.endings();
  if (!endings || !isWanted()) return false;
  const parts = [{ type: "text", text: noticeText(endings.text) }] as const;
  const data = { parts, ended: endings.ended };
  await own.append({ drafts: [{ type: "message.received", data }], durable: true });
  background?.told(endings.ended);
  return true;
}

/** Who was stopped or has failed waits for a person. */
export function mayWake(session: Session): boolean {
  return !session.turn && session.lastEnd?.type === "done" && !isTired(session);
}

/** It has gone on by itself as often as it may. */
export function isTired({ woken = 0 }: Session): boolean {
  return woken >= mostWoken;
}
