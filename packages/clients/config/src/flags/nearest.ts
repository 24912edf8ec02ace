/** Suggests the name that a mistyped one probably meant. */
import { distance } from "fastest-levenshtein";

/**
 * The closest name within two edits; ties prefer the same length, since swapped letters are the most common
 * slip.
 */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => ({ name, edits: distance(word, name), longer: Math.abs(name.length - word.length) }))
    .sort((a, b) => a.edits - b.edits || a.longer - b.longer);
  const best = ranked[0];
  return best && best.edits <= 2 && best.edits < word.length ? best.name : undefined;
}
