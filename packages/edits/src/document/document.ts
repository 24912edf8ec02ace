/** A file's text as the matcher sees it: LF lines without the byte order mark, folded forms kept once computed. */
import type { Tier } from "../hunk.ts";
import { foldLine } from "../match/fold-line.ts";
import { type LfText, lfText } from "./lf-text.ts";

export interface Document extends LfText {
  /** Whole lines without endings; a final newline opens no further line. */
  readonly lines: readonly string[];
  /** Offset in `text` at which a line starts, the line after the last one included. */
  startOf(line: number): number;
  /** Every line as this tier reads it. */
  folded(tier: Tier): readonly string[];
}

export function readDocument(original: string): Document {
  const lf = lfText(original);
  const lines = wholeLines(lf.text.split("\n"));
  const known = new Map<Tier, readonly string[]>([["exact", lines]]);
  let starts: number[] | undefined;
  return {
    ...lf,
    lines,
    startOf(line) {
      starts ??= startsOf(lines, lf.text.length);
      return starts[line] ?? lf.text.length;
    },
    folded(tier) {
      const folded = known.get(tier) ?? lines.map((line) => foldLine(line, tier));
      known.set(tier, folded);
      return folded;
    },
  };
}

/** Without the empty piece behind a final newline. */
export function wholeLines(pieces: readonly string[]): readonly string[] {
  return pieces.at(-1) === "" ? pieces.slice(0, -1) : pieces;
}

function startsOf(lines: readonly string[], end: number): number[] {
  let at = 0;
  const starts = lines.map((line) => {
    const start = at;
    at += line.length + 1;
    return start;
  });
  return [...starts, end];
}
