/**
 * Expected cost: what a model will cost until the work is done, including the effects of the prompt cache.
 */
import { type Price, type RoutedRow, ratesOf } from "@lathe/protocol";

export interface Work {
  /** Tokens of the first request: prompt, tools and conversation. */
  readonly context: number;
  /** The part of them that the provider still caches for this model. */
  readonly cached: number;
  /** Expected answers until the work is done; may be fractional. */
  readonly steps: number;
  /** Tokens that each step adds to the next request, and the output part of them. */
  readonly growth: number;
  readonly answer: number;
}

/** Longer work is priced at this length. */
const maxSteps = 60;
/** Number of steps priced together, at the rates of the middle one. */
const together = 6;

/**
 * Each step reads what the previous one sent from the cache, and writes the rest to it. The first step reads
 * what the cache holds of this conversation for this model: after a switch nothing, so that all of it is paid
 * again.
 */
export function expectedCost(price: Price, work: Work): RoutedRow["cost"] {
  const { context, growth } = work;
  const steps = Math.min(maxSteps, work.steps);
  let [prompt, cache, answer] = [0, 0, 0];
  let cached = Math.min(work.cached, context);
  for (let done = 0; done < steps; done += together) {
    const now = Math.min(together, steps - done);
    const first = context + done * growth;
    const last = first + Math.max(0, now - 1) * growth;
    const rates = ratesOf(price, (first + last) / 2);
    // The next step reads what one step writes, so the total written is the final content.
    prompt += Math.min(1, now) * (last - cached) * Math.max(rates.written, rates.input);
    cache +=
      (Math.min(1, now) * cached + (Math.max(0, now - 1) * (first + last - growth)) / 2) * rates.cached;
    answer += now * work.answer * rates.output;
    cached = last;
  }
  return { prompt: prompt / 1e6, cache: cache / 1e6, answer: answer / 1e6 };
}
