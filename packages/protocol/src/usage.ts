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

/** Prices in US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly cached: number;
  readonly written: number;
  readonly output: number;
}

/** Cost in US dollars; undefined when the price is unknown (never 0). */
export function costOf(usage: Usage, price: Price | undefined): number | undefined {
  if (!price) return undefined;
  const fresh = usage.input - usage.cached - usage.written;
  const total =
    fresh * price.input +
    usage.cached * price.cached +
    usage.written * price.written +
    usage.output * price.output;
  return total / 1e6;
}
