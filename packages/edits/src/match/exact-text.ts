/** A piece of text letter by letter: the strictest tier for dialects that name text rather than lines. */
import type { Document } from "../document/document.ts";
import { foldCharacter } from "./fold-line.ts";

/** Offsets of every occurrence; `stride` 1 counts overlapping ones. */
export function occurrences(text: string, piece: string, stride: number): readonly number[] {
  const found: number[] = [];
  for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + stride)) found.push(at);
  return found;
}

/** Offsets of the piece where quotes, dashes and spaces are read as plain ones, one character for one. */
export function typographicOccurrences(document: Document, piece: string, stride: number): readonly number[] {
  return occurrences(plain(document.text), plain(piece), stride);
}

function plain(text: string): string {
  return text.replaceAll(/\P{ASCII}/gu, (character) => {
    const folded = foldCharacter(character);
    return folded.length === 1 ? folded : character;
  });
}

/** A word this long is no accident inside another one. */
const telling = 6;

/** Whether the piece is one short word, and there only as a part of a longer one, which is then another word. */
export function cutsWord(text: string, piece: string, at: number): boolean {
  if (piece.length >= telling || !/^[\p{L}\p{M}\p{N}_$]+$/u.test(piece)) return false;
  return isWord(text[at - 1]) || isWord(text[at + piece.length]);
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{M}\p{N}_$]/u.test(character);
}
