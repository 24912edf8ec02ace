/** The providers' published rules of their prompt caches; the duration is the shortest that they promise. */
import type { CacheRules } from "@lathe/protocol";

const minute = 60_000;

/**
 * By the model's id, first match. Anthropic's wire sets the marks it needs; all others cache automatically.
 */
const rules: readonly (readonly [id: RegExp, rules: CacheRules])[] = [
  [
    /^anthropic\/claude-(?:opus-(?:4[.-][5-9]|[5-9])|haiku-[4-9])/,
    { min: 4096, grain: 1, ttlMs: 5 * minute },
  ],
  [/^anthropic\//, { min: 1024, grain: 1, ttlMs: 5 * minute }],
  [/^openai\//, { min: 1024, grain: 128, ttlMs: 5 * minute }],
  [/^google\/gemini-[\d.]+-flash/, { min: 1024, grain: 1, ttlMs: 3 * minute }],
  [/^google\//, { min: 4096, grain: 1, ttlMs: 3 * minute }],
  [/^deepseek\//, { min: 64, grain: 64, ttlMs: 60 * minute }],
  [/^(?:xai|moonshotai|zai|minimax|qwen)\//, { min: 1024, grain: 128, ttlMs: 5 * minute }],
];

/** Undefined for unknown providers, including the user's own servers. */
export function cacheRulesOf(id: string): CacheRules | undefined {
  return rules.find(([pattern]) => pattern.test(id))?.[1];
}
