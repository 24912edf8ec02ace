/** Take-over price: what another model is charged for a conversation it has not read, whole or summed up before. */
import { costOf, type ModelInfo, noUsage } from "@lathe/protocol";
import { keptTokens } from "./compaction/room.ts";

export interface TakeOverPrice {
  /** Tokens of the conversation as it is. */
  readonly tokens: number;
  /** US dollars for reading it whole; absent where the price is not known. */
  readonly whole?: number;
  /** Where that is cheaper: a summary, and reading what it leaves. About: what a summary leaves is not known before. */
  readonly summed?: { readonly tokens: number; readonly cost: number };
}

/** Prompt, tools and the summary itself, as they come out for the most part. */
const promptTokens = 3_500;
const summaryTokens = 2_000;

/** `by`: who sums up. Its request holds the conversation as text, so nothing of it is read from a cache. */
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

/** All of it fresh, and written to the cache for the steps after it. */
function readingCost(tokens: number, { price }: Pick<ModelInfo, "price">): number | undefined {
  return costOf({ ...noUsage, input: tokens, written: tokens }, price);
}
