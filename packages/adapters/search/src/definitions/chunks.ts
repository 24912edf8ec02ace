/** Cuts a file into chunks the size of functions: a definition with what is said above it, 60 lines at most. */
import type { Definition } from "./definitions.ts";

const maxChunkLines = 60;
/** Shorter ones are joined with what follows. */
const fewLines = 6;
const joinedLines = 24;

/** The first line of each chunk, ascending, beginning with 0. */
export function chunkStarts(
  text: string,
  starts: ArrayLike<number>,
  definitions: readonly Definition[],
): readonly number[] {
  const cuts: number[] = [];
  let before = 0;
  for (const { line, opens } of definitions) {
    if (!opens) continue;
    const cut = Math.max(before, withLeading(text, starts, line));
    if (cut > (cuts.at(-1) ?? 0)) cuts.push(cut);
    before = line + 1;
  }
  return capped(joined(cuts, starts.length), text, starts);
}

/** The line above which comments, decorators and attributes of a definition begin. */
function withLeading(text: string, starts: ArrayLike<number>, line: number): number {
  let first = line;
  while (first > 0 && line - first < maxChunkLines / 2 && isLeading(text, starts[first - 1] as number))
    first--;
  return first;
}

/** `//`, `/*`, ` *`, `#` and `@` begin lines that belong to what follows. */
function isLeading(text: string, start: number): boolean {
  let at = start;
  while (text.charCodeAt(at) === 32 || text.charCodeAt(at) === 9) at++;
  const char = text[at];
  if (char === "*" || char === "#" || char === "@") return true;
  return char === "/" && (text[at + 1] === "/" || text[at + 1] === "*");
}

/** Cuts without those that leave only a few lines, as long as what is joined stays short. */
function joined(cuts: readonly number[], lines: number): readonly number[] {
  const kept = [0];
  cuts.forEach((cut, at) => {
    const last = kept.at(-1) as number;
    const next = cuts[at + 1] ?? lines;
    const isShort = cut - last < fewLines || next - cut < fewLines;
    if (isShort && next - last <= joinedLines) return;
    kept.push(cut);
  });
  return kept;
}

/** Cuts long chunks, at an empty line where there is one in the last third. */
function capped(cuts: readonly number[], text: string, starts: ArrayLike<number>): readonly number[] {
  const all: number[] = [];
  cuts.forEach((cut, at) => {
    const end = cuts[at + 1] ?? starts.length;
    let from = cut;
    all.push(from);
    while (end - from > maxChunkLines) {
      from = breakIn(text, starts, from);
      all.push(from);
    }
  });
  return all;
}

function breakIn(text: string, starts: ArrayLike<number>, from: number): number {
  for (let line = from + maxChunkLines; line > from + maxChunkLines * (2 / 3); line--) {
    const char = text.charCodeAt(starts[line - 1] as number);
    if (char === 10 || char === 13) return line;
  }
  return from + maxChunkLines;
}
