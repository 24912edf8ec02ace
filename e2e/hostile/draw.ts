/** Draws random choices from one seed: the same number gives the same layout on every machine. */
import { seededRandom } from "@lathe/protocol";

export interface Draw {
  chance(probability: number): boolean;
  /** At least 0, less than `end`. */
  below(end: number): number;
  one<T>(items: readonly T[]): T;
  some<T>(items: readonly T[], least: number, most: number): readonly T[];
}

export function drawFrom(seed: number): Draw {
  const next = seededRandom(seed ^ 0x9e3779b9);
  const below = (end: number): number => Math.floor(next() * end);
  return {
    below,
    chance: (probability) => next() < probability,
    one: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error("nothing to draw from");
      return item;
    },
    some: (items, least, most) => {
      const left = [...items];
      const count = Math.min(left.length, least + below(most - least + 1));
      return Array.from({ length: count }, () => left.splice(below(left.length), 1)).flat();
    },
  };
}
