/**
 * Inbox messages already turned into events, so that a crash between append and removal does not repeat one.
 */
import type { Session } from "./session.ts";

const remembered = 64;

export function rememberOffer(session: Session, offer: string | undefined): Session {
  if (offer === undefined) return session;
  return { ...session, offers: [...session.offers, offer].slice(-remembered) };
}
