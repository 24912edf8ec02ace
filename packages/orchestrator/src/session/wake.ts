/** Wake: a command that the agent left in the background, and whose end it waits for, begins a turn when it ends. */
import { noticeText, type Session } from "@lathe/protocol";
import type { Entry, Ports } from "../ports.ts";

/** Turns in a row that nobody's words have begun: whoever is not there cannot stop what goes round. */
const mostWoken = 8;

/** Undefined where nothing wakes it: it was stopped, or nobody looks on. */
export async function wake(session: Session, { background }: Ports): Promise<Entry | undefined> {
  if (!background || !mayWake(session) || !background.wakes()) return undefined;
  const endings = await background.endings();
  if (!endings) return undefined;
  const parts = [{ type: "text", text: noticeText(endings.text) }] as const;
  return { drafts: [{ type: "message.received", data: { parts, ended: endings.ended } }], durable: true };
}

/** Who was stopped or has failed waits for a person. */
export function mayWake({ turn, lastEnd, woken = 0 }: Session): boolean {
  return !turn && lastEnd?.type === "done" && woken < mostWoken;
}
