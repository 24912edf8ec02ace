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
const mostSteps = 60;

/**
 * Each step reads what the one before it sent from the cache, and writes the rest to it. The first reads what the cache
 * holds of this conversation for this model: after a switch nothing, so that all of it is paid again.
 */
export function expectedCost(price: Price, work: Work): RoutedRow["cost"] {
  const steps = Math.min(mostSteps, work.steps);
  let [prompt, cache, answer] = [0, 0, 0];
  let cached = Math.min(work.cached, work.context);
  for (let i = 0; i < steps; i++) {
    const part = Math.min(1, steps - i);
    const size = work.context + i * work.growth;
    const rates = ratesOf(price, size);
    prompt += part * (size - cached) * Math.max(rates.written, rates.input);
    cache += part * cached * rates.cached;
    answer += part * work.answer * rates.output;
    cached = size;
  }
  return { prompt: prompt / 1e6, cache: cache / 1e6, answer: answer / 1e6 };
}
