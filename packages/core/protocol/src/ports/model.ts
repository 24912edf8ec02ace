/** The model port: one request in, one attempt's stream of parts out. */
import type { Effort } from "../effort.ts";
import type { Failure } from "../failure.ts";
import type { AssistantPart, FinishReason, Message } from "../message.ts";
import type { ToolSpec } from "../prompt.ts";
import type { CacheRules } from "../prompt-cache.ts";
import type { Price, Usage } from "../usage.ts";

/** Everything a model sees in one attempt. */
export interface ModelRequest {
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly Message[];
  /** Indexes into `messages` after which a prompt cache breakpoint is worth setting. */
  readonly cacheMarks: readonly number[];
  /** Upper bound of the answer, in tokens. */
  readonly maxOutputTokens: number;
  /** Stable per session: providers route by it to the cache that is warm. */
  readonly cacheKey: string;
  /** A hint for models that reason; all others pay no heed to it. Absent: as the provider has it. */
  readonly effort?: Effort;
}

/**
 * One part of an attempt's stream. Deltas are for showing only; the answer is what `finished` carries.
 * Exactly one `finished` or `failed` comes, last.
 */
export type ModelPart =
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly text: string }
  | {
      readonly type: "finished";
      readonly reason: FinishReason;
      readonly parts: readonly AssistantPart[];
      /** Absent when the provider sent none: the reservation is then charged. */
      readonly usage?: Usage;
      /** Unknown fields of the reply worth keeping (token ids, log probabilities), as JSON text. */
      readonly raw?: string;
    }
  | { readonly type: "failed"; readonly failure: Failure };

/** What is known of a model without asking it. */
export interface ModelInfo {
  /** `provider/model`, for example `anthropic/claude-sonnet-5.5`. */
  readonly id: string;
  /** Context window in tokens. */
  readonly window: number;
  /** Longest answer in tokens. */
  readonly maxOutput: number;
  readonly price?: Price;
  /** Absent where the provider's caching is unknown. */
  readonly cache?: CacheRules;
  /** Whether it sees images, thinks before it answers, calls tools; absent where unknown. */
  readonly images?: boolean;
  readonly reasoning?: boolean;
  readonly tools?: boolean;
}

export interface Model {
  readonly info: ModelInfo;
  /**
   * *Contract:* one attempt on one model; never throws for provider failures; ends with exactly one
   * `finished` or `failed`. After `signal` aborts it ends within 100 ms with `failed` (`cancelled`).
   * Tool calls appear only in `finished` with reason `tool-calls`.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
}

export interface Models {
  /** *Contract:* resolves a model id; loads its provider's package on first use; never throws. */
  open(id: string): Promise<Model | Failure>;
}
