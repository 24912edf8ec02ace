/** Charge: what an attempt has used once it is over, and what that cost. */
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

/** Unknown usage costs the reservation, that of a failure too: its input may have been charged, its output is unknown. */
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

/** Refused before any token was read or written: nothing is charged for these. */
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
  /** US dollars; absent where the price is unknown. */
  readonly cost?: number;
  readonly rates?: Rates;
}

/** Nothing where no usage came. */
export function billOf({ usage }: Heard, { price }: ModelInfo): Bill {
  if (!usage) return {};
  const cost = costOf(usage, price);
  return {
    usage,
    ...(cost !== undefined && { cost }),
    ...(price && { rates: plainRates(ratesOf(price, usage.input)) }),
  };
}

/** Without the tier they are of. */
function plainRates({ input, cached, written, output }: Rates): Rates {
  return { input, cached, written, output };
}
