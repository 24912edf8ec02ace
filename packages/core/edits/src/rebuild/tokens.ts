/** A line's body as words and signs with gaps, and the similarity of two lines. */

export interface Token {
  /** Whitespace and invisible characters before it. */
  readonly gap: string;
  readonly text: string;
}

/** Invisible characters inside a word belong to it, elsewhere to the gap. */
const token =
  /([\s\u00AD\u200B\u2060\uFEFF]*)((?:[\p{L}\p{M}\p{N}_$]|(?<=[\p{L}\p{M}\p{N}_$])[\u00AD\u200B\u2060\uFEFF](?=[\p{L}\p{M}\p{N}_$]))+|[^\s\u00AD\u200B\u2060\uFEFF])/gu;

export function tokensOf(body: string): readonly Token[] {
  return Array.from(body.matchAll(token), ([, gap = "", text = ""]) => ({ gap, text }));
}

/** Share of common tokens, 0 to 1 (Dice's coefficient on multisets). */
export function similarity(a: string, b: string): number {
  if (a === b) return 1;
  const counts = new Map<string, number>();
  const inA = tokensOf(a);
  const inB = tokensOf(b);
  for (const { text } of inA) counts.set(text, (counts.get(text) ?? 0) + 1);
  let common = 0;
  for (const { text } of inB) {
    const left = counts.get(text) ?? 0;
    if (left === 0) continue;
    common++;
    counts.set(text, left - 1);
  }
  return inA.length + inB.length === 0 ? 0 : (2 * common) / (inA.length + inB.length);
}
