/** After a failed attempt: try again, wait, let another model take over, or give up. */
import { type Failure, failure, type Session } from "@lathe/protocol";
import type { Action } from "./action.ts";
import { chainOf } from "./chain.ts";

/** Attempts on one model before the next one of the chain takes over. */
const attemptsPerModel = 3;
/** Attempts in a row before a turn ends, unless `limits.failures` says otherwise. */
const defaultAttempts = 8;
/** Milliseconds that failing and waiting may take in all before a turn ends. */
const retryBudgetMs = 300_000;

export function afterFailure(session: Session, now: number): Action | undefined {
  const { turn } = session;
  if (!turn?.lastFailure || turn.failures === 0) return undefined;
  const { lastFailure: problem, retryAt = now, failingSince = now } = turn;
  if (turn.modelFailures === 0) return undefined;
  if (problem.retry === "never") return giveUp(problem);
  const to = successor(session);
  const isLate = retryAt - failingSince > retryBudgetMs;
  const hopeless = problem.retry === "other-model" || turn.modelFailures >= attemptsPerModel || isLate;
  if (hopeless && to !== undefined) return { type: "switch-model", to, why: problem.text };
  if (problem.retry === "other-model") return giveUp(problem);
  // Before the first answer an address that does not answer is more likely wrong than gone for a moment.
  if (problem.code === "unreachable" && turn.steps === 0 && turn.modelFailures >= attemptsPerModel)
    return giveUp(problem, turn.failures);
  if (turn.failures >= (session.limits.failures ?? defaultAttempts)) return giveUp(problem, turn.failures);
  if (isLate) return giveUp(problem, turn.failures);
  return retryAt > now ? { type: "await-time", until: retryAt, why: problem.text } : undefined;
}

/** The model after the current one in the chain. */
function successor(session: Session): string | undefined {
  const chain = chainOf(session);
  return chain[chain.indexOf(session.model) + 1];
}

function giveUp(problem: Failure, attempts = 1): Action {
  const text = attempts > 1 ? `${problem.text} (${attempts} attempts)` : problem.text;
  return { type: "end-turn", end: { type: "failed", failure: { ...problem, text } } };
}

/**
 * When the attempt after this failure is due, in milliseconds after it: exponential back-off with full jitter over its
 * upper half (500 ms doubling to 30 s), and not before the provider asked for it.
 * `random` is uniform in [0, 1).
 */
export function retryDelay(problem: Failure, failuresBefore: number, random: number): number | undefined {
  if (problem.retry === "never" || problem.retry === "other-model") return undefined;
  const step = Math.min(500 * 2 ** failuresBefore, 30_000);
  const backOff = Math.round(step / 2 + (step / 2) * random);
  return problem.retry === "same" ? backOff : Math.max(backOff, problem.retry.afterMs);
}

/** The failure of an attempt whose owner died with it. */
export const cutOffAttempt: Failure = failure("owner-died", "the process died during this attempt", {
  retry: "same",
});
