/** How alike two names are, 0 to 1. */

import { distance } from "fastest-levenshtein";

/** 1 for equal names; shared words of camelCase and snake_case names and small edit distances count. */
export function similarity(a: string, b: string): number {
  if (a === b) return 1;
  const edits = 1 - distance(a.toLowerCase(), b.toLowerCase()) / Math.max(a.length, b.length, 1);
  return Math.max(edits, sharedWords(a, b));
}

function sharedWords(a: string, b: string): number {
  const left = new Set(wordsOf(a));
  const right = new Set(wordsOf(b));
  const shared = [...left].filter((word) => right.has(word)).length;
  return shared / Math.max(left.size, right.size, 1);
}

function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}
