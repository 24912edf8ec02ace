/** Usage: tokens and money of one attempt, added up per session. */
import * as v from "valibot";

/** Tokens of one attempt. `input` counts everything sent; `cached` and `written` are parts of it. */
export interface Usage {
  readonly input: number;
  readonly cached: number;
  /** Input tokens written to the provider's cache. */
  readonly written: number;
  /** Everything generated, reasoning included. */
  readonly output: number;
  readonly reasoning: number;
}

export const usageSchema: v.GenericSchema<unknown, Usage> = v.object({
  input: v.number(),
  cached: v.number(),
  written: v.number(),
  output: v.number(),
  reasoning: v.number(),
});

export const noUsage: Usage = { input: 0, cached: 0, written: 0, output: 0, reasoning: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    cached: a.cached + b.cached,
    written: a.written + b.written,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
  };
}

/** US dollars per million tokens. */
export interface Rates {
  readonly input: number;
  readonly cached: number;
  readonly written: number;
  readonly output: number;
}

export const ratesSchema: v.GenericSchema<unknown, Rates> = v.object({
  input: v.number(),
  cached: v.number(),
  written: v.number(),
  output: v.number(),
});

/**
 * The rates of requests with more than `above` input tokens; they apply to the whole request, not to the
 * excess.
 */
export interface PriceTier extends Rates {
  readonly above: number;
}

/** The rates of short requests, then those of longer ones, the shortest first. */
export interface Price extends Rates {
  readonly tiers?: readonly PriceTier[];
}

/** The rates for a request with this many input tokens. */
export function ratesOf(price: Price, input: number): Rates {
  return price.tiers?.findLast(({ above }) => input > above) ?? price;
}

/** Cost in US dollars; undefined when the price is unknown (never 0). */
export function costOf(usage: Usage, price: Price | undefined): number | undefined {
  if (!price) return undefined;
  const rates = ratesOf(price, usage.input);
  const fresh = usage.input - usage.cached - usage.written;
  const total =
    fresh * rates.input +
    usage.cached * rates.cached +
    usage.written * rates.written +
    usage.output * rates.output;
  return total / 1e6;
}
