/** A text without byte order mark and with LF line endings only, and the mapping to its original bytes. */
import { diffLines } from "./diff-lines.ts";

export interface LfText {
  readonly original: string;
  /** The text with every CRLF as LF, without a byte order mark. */
  readonly text: string;
  originalAt(offset: number): number;
  /** 1-based line of an offset in `text`. */
  lineAt(offset: number): number;
  /**
   * The line ending at or after an offset in `text`; at the file's end the one before it; LF in a text
   * without any.
   */
  endingAt(offset: number): "\n" | "\r\n";
}

export function lfText(original: string): LfText {
  const mark = original.startsWith("\uFEFF") ? 1 : 0;
  const text = original.slice(mark).replaceAll("\r\n", "\n");
  let ends: readonly number[] | undefined;
  let crlfs: readonly number[] | undefined;
  const allEnds = (): readonly number[] => {
    ends ??= offsets(text, "\n");
    return ends;
  };
  const allCrlfs = (): readonly number[] => {
    // The i-th CRLF of the original is i characters after its LF in `text`.
    crlfs ??=
      text.length + mark === original.length ? [] : offsets(original, "\r\n").map((at, i) => at - i - mark);
    return crlfs;
  };
  const endingAt = (offset: number): "\n" | "\r\n" => {
    const after = countBelow(allEnds(), offset);
    const end = allEnds()[after] ?? allEnds()[after - 1];
    return end !== undefined && allCrlfs()[countBelow(allCrlfs(), end)] === end ? "\r\n" : "\n";
  };
  return {
    original,
    text,
    originalAt: (offset) => mark + offset + countBelow(allCrlfs(), offset),
    lineAt: (offset) => countBelow(allEnds(), offset) + 1,
    endingAt,
  };
}

/**
 * Adds line endings to the new text of a place: an unchanged or replaced line keeps its own, added ones use
 * that of the line before them.
 */
export function withEndings(
  lf: LfText,
  place: { readonly start: number; readonly end: number; readonly new: string },
): string {
  if (!place.new.includes("\n") || !lf.original.includes("\r\n")) return place.new;
  const old = lf.text.slice(place.start, place.end).split("\n");
  const fresh = place.new.split("\n");
  const twins = twinsOf(old, fresh);
  const starts = lineStarts(old, place.start);
  let ending = lf.endingAt(lf.text[place.start - 1] === "\n" ? place.start - 1 : place.start);
  return fresh
    .map((line, i) => {
      if (i === fresh.length - 1) return line;
      const twin = twins[i];
      if (twin !== undefined && twin < old.length - 1) ending = lf.endingAt(starts[twin] ?? place.start);
      return line + ending;
    })
    .join("");
}

/** For each new line, the old line that it equals or replaces. */
function twinsOf(old: readonly string[], fresh: readonly string[]): readonly (number | undefined)[] {
  const twins: (number | undefined)[] = [];
  let at = 0;
  for (const { before, after } of diffLines(old, fresh)) {
    while (twins.length < after[0]) twins.push(at++);
    for (at = before[0]; twins.length < after[1]; at++) twins.push(at < before[1] ? at : undefined);
    at = before[1];
  }
  while (twins.length < fresh.length) twins.push(at++);
  return twins;
}

function lineStarts(lines: readonly string[], start: number): readonly number[] {
  let at = start;
  return lines.map((line) => {
    const here = at;
    at += line.length + 1;
    return here;
  });
}

function offsets(text: string, piece: string): readonly number[] {
  const found: number[] = [];
  for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + piece.length)) found.push(at);
  return found;
}

/** How many of the ascending numbers are below `limit`. */
function countBelow(ascending: readonly number[], limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
