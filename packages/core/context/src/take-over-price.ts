/** Take-over price: the cost for another model to read a conversation, whole or after a summary. */
import { costOf, type ModelInfo, noUsage } from "@lathe/protocol";
import { keptTokens } from "./compaction/room.ts";

export interface TakeOverPrice {
  /** Tokens of the current conversation. */
  readonly tokens: number;
  /** US dollars for reading it whole; absent if the price is unknown. */
  readonly whole?: number;
  /**
   * If that is cheaper: the cost of a summary, and of reading it. Estimated, since a summary's size is
   * unknown before.
   */
  readonly summed?: { readonly tokens: number; readonly cost: number };
}

/** Typical size of prompt, tools and the summary itself. */
const promptTokens = 3_500;
const summaryTokens = 2_000;

/**
 * `by`: the model that writes the summary. Its request holds the conversation as text, so it reads nothing
 * from a cache.
 */
export function takeOverPrice(
  tokens: number,
  to: Pick<ModelInfo, "window" | "price">,
  by: Pick<ModelInfo, "price">,
): TakeOverPrice {
  const whole = readingCost(tokens, to);
  const left = promptTokens + summaryTokens + keptTokens(to);
  const summing = costOf({ ...noUsage, input: tokens, output: summaryTokens }, by.price);
  const reading = readingCost(left, to);
  if (whole === undefined) return { tokens };
  if (summing === undefined || reading === undefined || summing + reading >= whole) return { tokens, whole };
  return { tokens, whole, summed: { tokens: left, cost: summing + reading } };
}

/** All tokens are fresh, and written to the cache for later steps. */
function readingCost(tokens: number, { price }: Pick<ModelInfo, "price">): number | undefined {
  return costOf({ ...noUsage, input: tokens, written: tokens }, price);
}
