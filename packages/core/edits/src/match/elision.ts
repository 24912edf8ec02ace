/** Paired lines of dots: the text between the pieces around them stays unchanged. */
import type { Hunk } from "../hunk.ts";
import { isComment, standInOf } from "./stand-in.ts";

/**
 * The pieces around paired elisions; undefined if old and new have different numbers of them. A line of dots
 * that is also in `file`, such as the body of a Python stub, is literal.
 */
export function piecesOf(hunk: Hunk, file: readonly string[]): readonly Hunk[] | undefined {
  const signs = new Set(hunk.old.filter(isElision).map((line) => line.trim()));
  if (signs.size === 0) return undefined;
  const own = signs.intersection(new Set(file.map((line) => line.trim())));
  const old = splitAt(hunk.old, own);
  const fresh = splitAt(hunk.new, own);
  if (old.length < 2 || old.length !== fresh.length) return undefined;
  const { kept: _, ...whole } = hunk;
  const pieces = old.map((lines, i) => ({
    ...whole,
    unit: "lines" as const,
    old: lines,
    new: fresh[i] ?? [],
  }));
  if (pieces.some((piece) => piece.old.length === 0 && piece.new.length > 0)) return undefined;
  const solid = pieces.filter((piece) => piece.old.length > 0);
  return solid.length > 0 ? solid : undefined;
}

function splitAt(lines: readonly string[], own: ReadonlySet<string>): readonly (readonly string[])[] {
  const pieces: string[][] = [[]];
  for (const line of lines) {
    if (isElision(line) && !own.has(line.trim())) pieces.push([]);
    else pieces.at(-1)?.push(line);
  }
  return pieces.map(withoutOuterBlanks);
}

/** Whether a line is only a sign for omitted lines. */
function isElision(line: string): boolean {
  const stands = standInOf(line);
  return stands === "dots" || (stands === "marked" && isComment(line));
}

function withoutOuterBlanks(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line.trim() !== "");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  return first < 0 ? [] : lines.slice(first, last + 1);
}
