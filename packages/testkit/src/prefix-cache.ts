/** A provider's prompt cache: computes cached tokens from the bytes that requests really share. */
import type { CacheRules, Usage } from "@lathe/protocol";

export interface PrefixCacheOptions extends CacheRules {
  /** Milliseconds. */
  readonly now: () => number;
}

export interface PrefixCache {
  /** Reads and writes; four characters make a token. Each `model` has its own cache. */
  take(model: string, text: string): Usage;
  /** Drops its entries, like a provider under load. */
  forget(): void;
}

interface Kept {
  readonly model: string;
  readonly text: string;
  usedAt: number;
}

export function createPrefixCache({ min, grain, ttlMs, now }: PrefixCacheOptions): PrefixCache {
  let all: Kept[] = [];
  return {
    take(model, text) {
      all = all.filter(({ usedAt }) => now() - usedAt <= ttlMs);
      const own = all.filter((kept) => kept.model === model);
      const shared = Math.max(0, ...own.map((kept) => commonLength(kept.text, text)));
      for (const kept of own) if (text.startsWith(kept.text)) kept.usedAt = now();
      all.push({ model, text, usedAt: now() });
      const whole = (characters: number): number => {
        const tokens = Math.floor(characters / 4 / grain) * grain;
        return tokens < min ? 0 : tokens;
      };
      const cached = whole(shared);
      const written = Math.max(0, whole(text.length) - cached);
      return { input: Math.ceil(text.length / 4), cached, written, output: 20, reasoning: 0 };
    },
    forget: () => {
      all = [];
    },
  };
}

function commonLength(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}
