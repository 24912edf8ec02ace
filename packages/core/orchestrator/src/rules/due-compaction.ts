/** Due compaction: whether the conversation has to be made shorter before the next attempt, and when that did not help. */
import { failure, freesEnough, isFailure, type Session, type TokensFreed } from "@lathe/protocol";
import type { Action } from "../action.ts";

/** `now` in milliseconds since the epoch. */
export function dueCompaction({ turn, compaction }: Session, now: number): Action | undefined {
  if (compaction) {
    const { why, focus, failed } = compaction;
    if (failed && failed.retryAt > now) return { type: "await-time", until: failed.retryAt, why: failed.why };
    return { type: "compact", why, ...(focus !== undefined && { focus }) };
  }
  if (!turn) return undefined;
  const { freed, lastFailure, modelFailures } = turn;
  if (freed?.why === "window" && !freesEnough(freed) && isFull(freed)) return giveUp(freed);
  const isRefused = lastFailure?.code === "context-overflow" && modelFailures > 0;
  return isRefused && mayHelp(freed) ? { type: "compact", why: "overflow" } : undefined;
}

/** Once, and once more where no summary was tried: what is refused again goes to a wider model, or ends the turn. */
function mayHelp(freed: TokensFreed | undefined): boolean {
  return freed?.why !== "overflow" || needsSummary(freed);
}

/** It freed enough without a summary, and that was not enough for the provider. */
export function needsSummary(freed: TokensFreed | undefined): boolean {
  return freed?.why === "overflow" && freesEnough(freed) && freed.summary === undefined;
}

/** The part of what a request may have above which little work is left until the next compaction. */
const full = 0.8;

function isFull({ after, most = 0 }: TokensFreed): boolean {
  return after > full * most;
}

/** One that frees little of a full window is due again at once, and again. */
function giveUp(freed: TokensFreed): Action {
  const text = `the conversation fills the model's window, and ${freedText(freed)}. Begin a new session, go back to an earlier step, or name a model with a larger window`;
  return { type: "end-turn", end: { type: "failed", failure: failure("context-overflow", text) } };
}

export function freedText({ before, after, summary }: TokensFreed): string {
  const percent = before > 0 ? Math.floor((100 * (before - after)) / before) : 0;
  const without = isFailure(summary) ? `, without a summary: ${summary.text}` : "";
  return `making it shorter freed only ${percent} % of it (${before} to ${after} tokens)${without}`;
}
