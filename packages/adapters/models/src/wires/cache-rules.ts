/** What providers promise of their prompt caches, as far as they do; how long is the least that they name. */
import type { CacheRules } from "@lathe/protocol";

const minute = 60_000;

/** By the model's id, first match. The marks that Anthropic wants are set by its wire, all others cache by themselves. */
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

/** Undefined for providers that nothing is known of, servers of one's own among them. */
export function cacheRulesOf(id: string): CacheRules | undefined {
  return rules.find(([pattern]) => pattern.test(id))?.[1];
}
