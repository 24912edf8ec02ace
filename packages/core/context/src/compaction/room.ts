/** Room: the share of a model's window that a conversation may have, and the part that compaction keeps. */
import type { ModelInfo, Session } from "@lathe/protocol";
import { profileFor } from "../profiles/profile-of.ts";

/** The share of the window kept for the end of a conversation, and its maximum in tokens. */
const keptShare = 0.12;
const maxKept = 12_000;
/** The share of the window for the user's words in a summary, and its maximum in tokens. */
const wordsShare = 0.15;
const maxWords = 20_000;
/** The share of the window for all of the latest results. */
const latestShare = 0.3;
/** The share for images since the last answer. */
const unseenShare = 0.5;

/** Tokens of a request above which the conversation is compacted; the answer must still fit. */
export function maxTokens(
  { id, window }: Pick<ModelInfo, "id" | "window">,
  session: Pick<Session, "settings">,
): number {
  return Math.floor(window * profileFor(session, id).windowShare);
}

/** Tokens at the end of a conversation that stay unchanged. */
export function keptTokens({ window }: Pick<ModelInfo, "window">): number {
  return Math.floor(Math.min(maxKept, window * keptShare));
}

export function latestTokens({ window }: Pick<ModelInfo, "window">): number {
  return Math.floor(window * latestShare);
}

export function unseenTokens({ window }: Pick<ModelInfo, "window">): number {
  return Math.floor(window * unseenShare);
}

/** Tokens of the user's words in a summary. */
export function wordsTokens({ window }: Pick<ModelInfo, "window">): number {
  return Math.floor(Math.min(maxWords, window * wordsShare));
}
