/** The parts of a file around its changes that parse by themselves: whole blocks that begin at the margin. */
import { type ChangedLines, diffLines } from "./document/diff-lines.ts";

export interface ChangedPart {
  readonly before: string;
  readonly after: string;
  /** 0-based line of the text after on which the part begins. */
  readonly line: number;
}

/** In the order of the file, without overlaps. */
export function topLevelParts(before: string, after: string): readonly ChangedPart[] {
  const old = before.split("\n");
  const fresh = after.split("\n");
  const parts: ChangedLines[] = [];
  for (const change of diffLines(old, fresh)) {
    const part = widened(change, old);
    const last = parts.at(-1);
    if (last && part.before[0] < last.before[1]) {
      parts[parts.length - 1] = {
        before: [last.before[0], part.before[1]],
        after: [last.after[0], part.after[1]],
      };
    } else parts.push(part);
  }
  return parts.map((part) => ({
    before: old.slice(...part.before).join("\n"),
    after: fresh.slice(...part.after).join("\n"),
    line: part.after[0],
  }));
}

/** By the same lines on both sides, which are the same in both texts. */
function widened({ before, after }: ChangedLines, old: readonly string[]): ChangedLines {
  let [from, to] = before;
  while (from > 0 && !(opensBlock(old, from) && from < before[0])) from--;
  while (to < old.length && !opensBlock(old, to)) to++;
  return { before: [from, to], after: [after[0] - (before[0] - from), after[1] + (to - before[1])] };
}

/** What begins at the margin behind a blank line, and closes nothing. */
function opensBlock(lines: readonly string[], at: number): boolean {
  return /^[^\s)\]}]/.test(lines[at] ?? "") && (lines[at - 1] ?? "").trim() === "";
}
