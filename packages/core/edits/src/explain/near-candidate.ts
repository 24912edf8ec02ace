/**
 * Finds the lines of a file that are most similar to a missing text; only to show them, never to edit them.
 */

export interface Candidate {
  /** 1-based first line, and the number of lines of the wanted text. */
  readonly text: string;
  /** 1-based first line, and how many the wanted text has. */
  readonly line: number;
  readonly count: number;
  /** True if every line is present and only whitespace differs. */
  readonly onlyWhitespace: boolean;
}

const maxShown = 20;
const maxLine = 200;
/** Maximum lines to compare: an error message is not worth more than some tens of milliseconds. */
const maxLines = 50_000;
/** Maximum occurrences of one line in the wanted text that count, and maximum score of a long line. */
const maxTwins = 20;
const maxWeight = 40;

/** The best candidate, or undefined if nothing is similar. */
export function nearCandidate(text: string, wanted: string): Candidate | undefined {
  const lines = text.split("\n", maxLines);
  const flat = lines.map(flattened);
  const block = trimmedBlock(wanted.split("\n").map(flattened));
  // A file that is shown whole needs no similarity.
  const isSmall = lines.length <= maxShown && text !== "";
  const start = bestByLines(flat, block) ?? bestByWords(flat, block) ?? (isSmall ? 0 : undefined);
  if (start === undefined) return undefined;
  const onlyWhitespace = block.every((line, i) => flat[start + i] === line);
  return { text: shown(lines, start, block.length), line: start + 1, count: block.length, onlyWhitespace };
}

function flattened(line: string): string {
  return line.trim().replaceAll(/\s+/g, " ");
}

function trimmedBlock(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line !== "");
  const last = lines.findLastIndex((line) => line !== "");
  return first < 0 ? [] : lines.slice(first, last + 1);
}

/** The position with most of the block's lines in order. */
function bestByLines(flat: readonly string[], block: readonly string[]): number | undefined {
  const twins = Map.groupBy(block.keys(), (i) => block[i] ?? "");
  twins.delete("");
  const scores = new Map<number, number>();
  for (const [at, line] of flat.entries()) {
    for (const i of twins.get(line)?.slice(0, maxTwins) ?? []) {
      const start = Math.max(0, at - i);
      scores.set(start, (scores.get(start) ?? 0) + Math.min(line.length, maxWeight));
    }
  }
  // A single bracket is no similarity.
  return highest(scores, Math.min(8, block.join("").length));
}

/** The line that shares the most words with the block's longest line, at least half of them. */
function bestByWords(flat: readonly string[], block: readonly string[]): number | undefined {
  const longest = block.reduce((a, b) => (b.length > a.length ? b : a), "");
  const at = block.indexOf(longest);
  const wanted = new Set(words(longest));
  const total = [...wanted].join("").length;
  const scores = new Map<number, number>();
  for (const [i, line] of flat.entries()) {
    const shared = [...new Set(words(line))].filter((word) => wanted.has(word)).join("").length;
    if (shared > 0) scores.set(Math.max(0, i - at), shared - Math.abs(line.length - longest.length) / 1000);
  }
  return total === 0 ? undefined : highest(scores, total / 2);
}

function highest(scores: ReadonlyMap<number, number>, least: number): number | undefined {
  let best: number | undefined;
  let top = least;
  for (const [start, score] of scores) {
    if (score < top || (score === top && best !== undefined)) continue;
    best = start;
    top = score;
  }
  return best;
}

function words(line: string): readonly string[] {
  return line.match(/[\p{L}\p{N}_$]+/gu) ?? [];
}

function shown(lines: readonly string[], start: number, count: number): string {
  const end = Math.min(lines.length, start + Math.min(count, maxShown));
  return lines
    .slice(start, end)
    .map((line, i) => `${start + i + 1}\t${line.length > maxLine ? `${line.slice(0, maxLine)}...` : line}`)
    .join("\n");
}
