/** A unified diff in colours, bounded. */

import type { Palette } from "../colour/palette.ts";
import { harmless } from "../text/fit.ts";

/**
 * The lines of a unified diff without its file headers; lines beyond `limit` are counted, so that a person
 * knows what they have not seen.
 */
export function diffLines(diff: string, paint: Palette, limit: number): readonly string[] {
  const body = hunkLines(diff);
  const shown = body.slice(0, limit).map((line) => paintLine(harmless(unbroken(line)), paint));
  const rest = body.length - shown.length;
  return rest > 0 ? [...shown, paint.dim(`… ${rest} more lines`)] : shown;
}

/** Shows line separators that terminals ignore: many languages end a comment there. */
function unbroken(line: string): string {
  return line.replace(/\r(?!$)|[\u2028\u2029]/gu, "↵");
}

/** The lines of the hunks with their headers. Headers are found by position, since a file's lines may look like one. */
export function hunkLines(diff: string): readonly string[] {
  const lines: string[] = [];
  let left: Left = { before: 0, after: 0 };
  for (const line of diff.split("\n")) {
    const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
    if (hunk) left = { before: Number(hunk[1] ?? 1), after: Number(hunk[2] ?? 1) };
    else if (left.before + left.after > 0 && /^[-+ ]/.test(line)) left = without(line, left);
    else continue;
    lines.push(line);
  }
  return lines;
}

interface Left {
  readonly before: number;
  readonly after: number;
}

function without(line: string, { before, after }: Left): Left {
  return { before: before - (line[0] === "+" ? 0 : 1), after: after - (line[0] === "-" ? 0 : 1) };
}

function paintLine(line: string, paint: Palette): string {
  if (line.startsWith("+")) return paint.green(line);
  if (line.startsWith("-")) return paint.red(line);
  return paint.dim(line);
}

/** Counts the lines added and removed. */
export function diffCounts(diff: string): { readonly added: number; readonly removed: number } {
  const lines = hunkLines(diff);
  const count = (mark: string): number => lines.filter((line) => line.startsWith(mark)).length;
  return { added: count("+"), removed: count("-") };
}
