/** Expected cost: what a model will cost until the work is done, with the prompt cache it finds and leaves. */
import { type Price, type RoutedRow, ratesOf } from "@lathe/protocol";

export interface Work {
  /** Tokens of the first request: prompt, tools and conversation. */
  readonly context: number;
  /** Of these, what the provider still holds for this model. */
  readonly cached: number;
  /** Answers until it is done; not whole. */
  readonly steps: number;
  /** Tokens each step adds to the next request, and of them those answered. */
  readonly growth: number;
  readonly answer: number;
}

/** Longer work is priced as this long. */
const maxSteps = 60;
/** Steps that are priced together, by the rates in their middle. */
const together = 6;

/**
 * Each step reads what the one before it sent from the cache, and writes the rest to it. The first reads what the cache
 * holds of this conversation for this model: after a switch nothing, so that all of it is paid again.
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
    // What one step writes the next one reads, so what is written in all is what is there in the end.
    prompt += Math.min(1, now) * (last - cached) * Math.max(rates.written, rates.input);
    cache +=
      (Math.min(1, now) * cached + (Math.max(0, now - 1) * (first + last - growth)) / 2) * rates.cached;
    answer += now * work.answer * rates.output;
    cached = last;
  }
  return { prompt: prompt / 1e6, cache: cache / 1e6, answer: answer / 1e6 };
}
