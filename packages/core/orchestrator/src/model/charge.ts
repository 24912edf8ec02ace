/** Charge: what a finished attempt used, and its cost. */
import {
  costOf,
  type Failure,
  type FailureCode,
  isFailure,
  type ModelInfo,
  type Rates,
  type Reservation,
  ratesOf,
  type Usage,
} from "@lathe/protocol";

interface Heard {
  readonly usage?: Usage;
}

/**
 * Unknown usage costs the reservation, also after a failure: its input may have been charged, its output is
 * unknown.
 */
export function chargeOf(
  heard: Heard | Failure,
  { price }: ModelInfo,
  reservation: Reservation,
): Reservation {
  if (isFailure(heard)) return neverSent.has(heard.code) ? { tokens: 0, cost: 0 } : reservation;
  if (!heard.usage) return reservation;
  const cost = costOf(heard.usage, price);
  return { tokens: heard.usage.input + heard.usage.output, ...(cost !== undefined && { cost }) };
}

/** Rejected before any token was read or written: these cost nothing. */
const neverSent: ReadonlySet<FailureCode> = new Set([
  "rate-limited",
  "overloaded",
  "server-error",
  "unreachable",
  "unauthorized",
  "model-unknown",
  "request-rejected",
  "context-overflow",
]);

export interface Bill {
  readonly usage?: Usage;
  /** US dollars; absent if the price is unknown. */
  readonly cost?: number;
  readonly rates?: Rates;
}

/** Empty if there is no usage. */
export function billOf({ usage }: Heard, { price }: ModelInfo): Bill {
  if (!usage) return {};
  const cost = costOf(usage, price);
  return {
    usage,
    ...(cost !== undefined && { cost }),
    ...(price && { rates: plainRates(ratesOf(price, usage.input)) }),
  };
}

/** The rates without their tier. */
function plainRates({ input, cached, written, output }: Rates): Rates {
  return { input, cached, written, output };
}
