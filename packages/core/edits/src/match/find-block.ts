/** Finds a block of lines in a file, as folded by one tier. */
import type { Document } from "../document/document.ts";
import { foldLine } from "../document/fold-line.ts";
import type { Tier } from "../hunk.ts";

/** A run of the file's lines that a block matches. */
export interface Match {
  /** 0-based, end exclusive. */
  readonly from: number;
  readonly to: number;
  /** For each line of the block, its line in the file; undefined for a blank line the file does not have. */
  readonly lineOf: readonly (number | undefined)[];
}

/** All matches in the order of the file; they may overlap. A block of only blank lines has none. */
export function findBlock(document: Document, block: readonly string[], tier: Tier): readonly Match[] {
  const wanted = block.map((line) => foldLine(line, tier));
  if (wanted.every((line) => line.trim() === "")) return [];
  const lines = document.folded(tier);
  if (tier === "blank-lines") return findAroundBlanks(lines, wanted);
  const found: Match[] = [];
  for (const from of anchoredStarts(document, wanted, tier)) {
    const lineOf = wanted.map((_, i) => from + i);
    found.push({ from, to: from + wanted.length, lineOf });
  }
  return found;
}

/** Starts from the block's rarest line, so that a repetitive file is not compared line by line everywhere. */
function* anchoredStarts(document: Document, wanted: readonly string[], tier: Tier): Generator<number> {
  const lines = document.folded(tier);
  const positions = document.positions(tier);
  let anchor = 0;
  for (const [i, line] of wanted.entries()) {
    if ((positions.get(line)?.length ?? 0) < (positions.get(wanted[anchor] ?? "")?.length ?? 0)) anchor = i;
  }
  for (const at of positions.get(wanted[anchor] ?? "") ?? []) {
    const from = at - anchor;
    if (from >= 0 && wanted.every((line, i) => lines[from + i] === line)) yield from;
  }
}

function* startsOf(lines: readonly string[], wanted: readonly string[]): Generator<number> {
  const first = wanted[0] ?? "";
  const last = lines.length - wanted.length;
  for (let at = lines.indexOf(first); at >= 0 && at <= last; at = lines.indexOf(first, at + 1)) {
    if (wanted.every((line, i) => lines[at + i] === line)) yield at;
  }
}

function findAroundBlanks(lines: readonly string[], wanted: readonly string[]): readonly Match[] {
  const inFile = solid(lines);
  const inBlock = solid(wanted);
  const texts = inFile.map((line) => lines[line] ?? "");
  const block = inBlock.map((line) => wanted[line] ?? "");
  const known = new Set(texts);
  if (!block.every((line) => known.has(line))) return [];
  const found: Match[] = [];
  for (const start of startsOf(texts, block)) {
    const solidLines: (number | undefined)[] = wanted.map(() => undefined);
    for (const [i, line] of inBlock.entries()) solidLines[line] = inFile[start + i];
    const lineOf = withBlanks(solidLines, lines);
    const lined = lineOf.filter((line) => line !== undefined);
    found.push({ from: lined[0] ?? 0, to: (lined.at(-1) ?? 0) + 1, lineOf });
  }
  return found;
}

function solid(lines: readonly string[]): readonly number[] {
  return [...lines.keys()].filter((line) => lines[line] !== "");
}

/** Matches the block's blank lines with the file's, as long as the file has any at that place. */
function withBlanks(
  lineOf: readonly (number | undefined)[],
  lines: readonly string[],
): readonly (number | undefined)[] {
  const filled = [...lineOf];
  const first = filled.findIndex((line) => line !== undefined);
  for (let i = first + 1; i < filled.length; i++) {
    const before = filled[i - 1];
    if (filled[i] === undefined && before !== undefined && lines[before + 1] === "") filled[i] = before + 1;
  }
  for (let i = first - 1; i >= 0; i--) {
    const after = filled[i + 1];
    if (after !== undefined && lines[after - 1] === "") filled[i] = after - 1;
  }
  return filled;
}
