/** Caps: limits that end a turn, and what an attempt may cost at most before it starts. */
import {
  type Account,
  type Limits,
  type ModelInfo,
  type ModelRequest,
  type Reservation,
  ratesOf,
  type Session,
  type TurnEnd,
} from "@lathe/protocol";
import type { Action } from "./action.ts";

/** Answers shorter than this are not worth an attempt. */
const leastOutput = 1024;

/** Limits that bind before the next attempt is even assembled. */
export function reachedLimit(session: Session, now: number): Action | undefined {
  const { turn, limits } = session;
  if (!turn) return undefined;
  if (limits.steps !== undefined && turn.steps >= limits.steps) {
    return stop(
      "steps",
      `the limit of ${limits.steps} ${limits.steps === 1 ? "step" : "steps"} is reached; raise it with --max-steps`,
    );
  }
  const elapsed = now - turn.startedAt - turn.waitedMs;
  if (limits.wallMs !== undefined && elapsed >= limits.wallMs) {
    return stop("wallMs", `the turn took ${Math.round(elapsed / 1000)} s, its limit`);
  }
  return undefined;
}

function stop(limit: keyof Limits, text: string): Action {
  return { type: "end-turn", end: { type: "limit", limit, text } };
}

/**
 * The worst case of an attempt, with the answer shortened to what the caps still allow; or the end of the turn
 * when they do not allow an answer worth having. `input` in tokens.
 */
export function reserve(
  session: Session,
  info: ModelInfo,
  sent: { readonly request: ModelRequest; readonly input: number },
): { readonly request: ModelRequest; readonly reservation: Reservation } | TurnEnd {
  const { limits, account } = session;
  const used = spent(account);
  const wanted = sent.request.maxOutputTokens;
  const byTokens = limits.tokens === undefined ? wanted : limits.tokens - used.tokens - sent.input;
  const byCost = affordable(
    info,
    sent.input,
    limits.cost === undefined ? undefined : limits.cost - used.cost,
  );
  // The estimate is on the high side, so a full window shortens the answer and leaves it to the provider to refuse.
  const byWindow = Math.max(leastOutput, info.window - sent.input);
  const output = Math.floor(Math.min(wanted, byTokens, byCost, byWindow));
  if (output < Math.min(leastOutput, wanted)) {
    return byCost < byTokens
      ? {
          type: "limit",
          limit: "cost",
          text: `$${Number(used.cost.toPrecision(3))} of $${limits.cost} was used and the next step may not fit; raise it with --max-cost`,
        }
      : {
          type: "limit",
          limit: "tokens",
          text: `${used.tokens} of ${limits.tokens} tokens were used and the next step may not fit`,
        };
  }
  const cost = worstCost(info, sent.input, output);
  const tokens = sent.input + output;
  return {
    request: { ...sent.request, maxOutputTokens: output },
    reservation: cost === undefined ? { tokens } : { tokens, cost },
  };
}

/** Output tokens that `dollars` still buy after the input; unbounded without a cap or a price. */
function affordable(info: ModelInfo, input: number, dollars: number | undefined): number {
  const inputCost = worstCost(info, input, 0);
  if (dollars === undefined || !info.price || inputCost === undefined) return Number.POSITIVE_INFINITY;
  return ((dollars - inputCost) * 1e6) / Math.max(ratesOf(info.price, input).output, 1e-9);
}

/** Every input token at the dearest rate it could be charged. */
function worstCost({ price }: ModelInfo, input: number, output: number): number | undefined {
  if (!price) return undefined;
  const rates = ratesOf(price, input);
  const dearest = Math.max(rates.input, rates.written, rates.cached);
  return (input * dearest + output * rates.output) / 1e6;
}

/** What is used, open reservations included. */
function spent(account: Account): { readonly tokens: number; readonly cost: number } {
  return Object.values(account.reserved).reduce<{ readonly tokens: number; readonly cost: number }>(
    (sum, open) => ({ tokens: sum.tokens + open.tokens, cost: sum.cost + (open.cost ?? 0) }),
    { tokens: account.tokens, cost: account.cost },
  );
}
