/** Repeatable randomness: the same seed gives the same corpus on every machine. */
import { seededRandom } from "@lathe/protocol";

export interface SeededRandom {
  /** Below 1, at least 0. */
  readonly next: () => number;
  /** A whole number from 0 up to, not including, `limit`. */
  readonly below: (limit: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly pick: <T>(items: readonly T[]) => T;
  readonly shuffled: <T>(items: readonly T[]) => T[];
}

export function createSeededRandom(seed: string): SeededRandom {
  const next = seededRandom(hashed(seed));
  const below = (limit: number): number => Math.floor(next() * limit);
  const shuffled = <T>(items: readonly T[]): T[] => {
    const keyed = items.map((item) => ({ item, key: next() }));
    return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
  };
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: <T>(items: readonly T[]): T => items[below(items.length)] as T,
    shuffled,
  };
}

/** FNV-1a over the UTF-16 units. */
function hashed(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash | 0;
}
