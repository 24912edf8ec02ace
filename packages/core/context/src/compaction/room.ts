/** Room: what a conversation may have of a model's window, and what of it stays as it is when it is made shorter. */
import type { ModelInfo, Session } from "@lathe/protocol";
import { profileFor } from "../profiles/profile-of.ts";

/** The part of the window that the end of a conversation keeps, and the most tokens of it. */
const keptShare = 0.12;
const maxKept = 12_000;
/** The part of the window that the user's words may take in a summary, and the most tokens of it. */
const wordsShare = 0.15;
const maxWords = 20_000;
/** The part of the window that the latest results may take in all. */
const latestShare = 0.3;
/** The part that images may take which came since the last answer. */
const unseenShare = 0.5;

/** Tokens of a request above which the conversation is made shorter; the answer has to fit behind it. */
export function maxTokens(
  { id, window }: Pick<ModelInfo, "id" | "window">,
  session: Pick<Session, "settings">,
): number {
  return Math.floor(window * profileFor(session, id).windowShare);
}

/** Tokens at the end of a conversation that stay as they are. */
export function keptTokens({ window }: Pick<ModelInfo, "window">): number {
  return Math.floor(Math.min(maxKept, window * keptShare));
}

export function latestTokens({ window }: Pick<ModelInfo, "window">): number {
  return Math.floor(window * latestShare);
}

export function unseenTokens({ window }: Pick<ModelInfo, "window">): number {
  return Math.floor(window * unseenShare);
}

/** Tokens of the user's words that a summary carries. */
export function wordsTokens({ window }: Pick<ModelInfo, "window">): number {
  return Math.floor(Math.min(maxWords, window * wordsShare));
}
