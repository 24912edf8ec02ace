/** Prompt caches: what providers promise of them, what was put into them, and why one was missed. */
import * as v from "valibot";

/** What a provider promises of its prompt cache. */
export interface CacheRules {
  /** Shorter prompts are not cached. In tokens. */
  readonly min: number;
  /** It caches in pieces of so many tokens. */
  readonly grain: number;
  /** How long an unused entry stays. */
  readonly ttlMs: number;
}

/** Fingerprints of a request, against the last one that was sent to the same model. */
export interface SentRequest {
  readonly system: string;
  readonly tools: string;
  /** So many messages are those of the request before. */
  readonly kept: number;
  /** Fingerprints of those behind them. */
  readonly added: readonly string[];
  /** Input tokens, as they were estimated. */
  readonly estimate: number;
}

/**
 * Why less was read from the cache than the request before had put there: the provider dropped it after its time, or
 * before; another model was asked; or the request does not begin like the one before: it was compacted, went back, has
 * other tools or another system prompt, or an earlier message differs.
 */
export const missCauses = [
  "idle",
  "forgotten",
  "switched",
  "compacted",
  "rewound",
  "tools",
  "system",
  "prefix",
] as const;
export type MissCause = (typeof missCauses)[number];

export interface CacheMiss {
  readonly cause: MissCause;
  /** So many tokens could have been read and were not. */
  readonly tokens: number;
  /** Of `prefix`: the first message that differs, counted from 0. */
  readonly message?: number;
  /** Of `idle`: the time since the last request. */
  readonly idleMs?: number;
}

/** What a step was to read from the cache by the provider's own rules; what it read is in its usage. */
export interface CacheReading {
  readonly expected: number;
  readonly miss?: CacheMiss;
}

/** One model's view of the session. */
export interface SentPrompt {
  readonly system: string;
  readonly tools: string;
  /** Fingerprints of the messages of the last request. */
  readonly messages: readonly string[];
  /** Where answered requests ended that the last one begins with, the shortest first. */
  readonly ends: readonly { readonly messages: number; readonly tokens: number; readonly estimate: number }[];
  /** When the last answered one was sent. */
  readonly usedAt: number;
  /** Tokens of a request that are no part of what is cached, as measured at hits. */
  readonly overhead: number;
  readonly estimate: number;
  /** What makes the next request begin otherwise; until one is answered. */
  readonly broken?: "rewound" | "compacted";
}

export const sentSchema: v.GenericSchema<unknown, SentRequest> = v.object({
  system: v.string(),
  tools: v.string(),
  kept: v.number(),
  added: v.array(v.string()),
  estimate: v.number(),
});

export const cacheReadingSchema: v.GenericSchema<unknown, CacheReading> = v.object({
  expected: v.number(),
  miss: v.exactOptional(
    v.object({
      cause: v.picklist(missCauses),
      tokens: v.number(),
      message: v.exactOptional(v.number()),
      idleMs: v.exactOptional(v.number()),
    }),
  ),
});

/** So much less than expected is still a hit: providers count a little of each request that they do not cache. */
export function cacheSlack(expected: number): number {
  return Math.max(128, Math.ceil(expected / 50));
}

export function providerOf(model: string): string {
  return model.slice(0, Math.max(0, model.indexOf("/")));
}
