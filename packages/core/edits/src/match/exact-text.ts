/** Exact matches of a piece of text: the strictest tier for dialects that name text rather than lines. */
import type { Document } from "../document/document.ts";
import { foldCharacter } from "../document/fold-line.ts";

/** Maximum number of places to distinguish. */
const manyPlaces = 100;

/** Offsets of the occurrences, up to `manyPlaces` and overlapping ones included, unless all are wanted. */
export function occurrences(text: string, piece: string, all: boolean): readonly number[] {
  const found: number[] = [];
  const stride = all ? piece.length : 1;
  for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + stride)) {
    found.push(at);
    if (!all && found.length > manyPlaces) break;
  }
  return found;
}

/** Offsets of the piece with plain quotes, dashes and spaces, one character for one. */
export function typographicOccurrences(document: Document, piece: string, all: boolean): readonly number[] {
  return occurrences(plain(document.text), plain(piece), all);
}

function plain(text: string): string {
  return text.replaceAll(/\P{ASCII}/gu, (character) => {
    const folded = foldCharacter(character);
    return folded.length === 1 ? folded : character;
  });
}

/** Whether the piece cuts a word that the edit changes to another one; then it means another word. */
export function cutsWord(
  text: string,
  { old, fresh }: { readonly old: string; readonly fresh: string },
  at: number,
): boolean {
  const end = at + old.length;
  const isCutAhead = isWord(text[at - 1]) && isWord(old[0]);
  const isCutBehind = isWord(old.at(-1)) && isWord(text[end]);
  return (
    (isCutAhead && isOther(/^[\p{L}\p{M}\p{N}_$]+/u, old, fresh)) ||
    (isCutBehind && isOther(/[\p{L}\p{M}\p{N}_$]+$/u, old, fresh))
  );
}

function isOther(part: RegExp, old: string, fresh: string): boolean {
  const before = part.exec(old)?.[0] ?? "";
  const after = part.exec(fresh)?.[0] ?? "";
  return before !== after && !isLike(before, after);
}

/** Mostly the same letters at both ends: a different spelling of a word. */
function isLike(a: string, b: string): boolean {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  return head + tail >= Math.max(a.length, b.length) * 0.6;
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{M}\p{N}_$]/u.test(character);
}
