/** Session state: what a session is doing, in the one word that every client shows. */
import type { Session } from "./session.ts";

export const sessionStates = [
  /** A message waits, and nobody works on it yet. */
  "queued",
  "working",
  /** A question is open that a person has to answer. */
  "needs-input",
  /** A turn is open, and its owner has gone: resuming the session finishes it. */
  "runner-away",
  "idle",
  /** No turn is open, and the last one failed. */
  "failed",
] as const;

export type SessionState = (typeof sessionStates)[number];

/** What the log of a session does not say. */
export interface SessionSurroundings {
  /** Whether its owner runs; in doubt, as on another machine, true. */
  readonly hasOwner: boolean;
  /** Whether its inbox holds messages that are not in the log yet. */
  readonly hasMessages: boolean;
}

export function sessionState(session: Session, { hasOwner, hasMessages }: SessionSurroundings): SessionState {
  if (session.turn) {
    if (!hasOwner) return "runner-away";
    return session.calls.some(({ asked, outcome }) => asked && !outcome) ? "needs-input" : "working";
  }
  if (hasMessages) return "queued";
  return hasFailed(session) ? "failed" : "idle";
}

/** A fork and a rewind close the calls they leave open as cancelled: that is no failure. */
function hasFailed({ lastEnd }: Session): boolean {
  return lastEnd?.type === "failed" && lastEnd.failure.code !== "cancelled";
}
