/** Moved runs: finds runs of lines that moved, long enough not to be a coincidence. */
import { type Text, weightOf } from "./text.ts";

/** The new lines of a text. */
export interface AddedLines {
  readonly path: string;
  readonly text: Text;
  /** Line numbers from 0, ascending. */
  readonly lines: readonly number[];
}

/** The new place of a lost line. */
export interface MovedLine {
  readonly path: string;
  readonly text: Text;
  readonly line: number;
}

/** Letters and digits that a run needs, similar to the 20 and 40 of `git blame -M` and `-C`. */
const enough = {
  sameFile: 20,
  otherFile: 30,
};

interface Spot {
  readonly added: AddedLines;
  /** Index in `added.lines`. */
  readonly index: number;
}

/** Added lines by their content; each is used once. */
export interface AddedIndex {
  readonly all: readonly AddedLines[];
  readonly spots: ReadonlyMap<string, readonly Spot[]>;
  readonly taken: Map<AddedLines, Set<number>>;
}

export function indexAdded(all: readonly AddedLines[]): AddedIndex {
  const spots = new Map<string, Spot[]>();
  for (const added of all) {
    for (const [index, line] of added.lines.entries()) {
      const plain = added.text.plain[line] ?? "";
      if (plain === "") continue;
      const known = spots.get(plain);
      if (known) known.push({ added, index });
      else spots.set(plain, [{ added, index }]);
    }
  }
  return { all, spots, taken: new Map() };
}

/** Maximum places that are tried for a common line. */
const maxSpots = 200;

/**
 * Returns the new place of each lost line. `lost` is one run of a file, in order; blank lines neither break a run nor
 * count.
 */
export function findMoved(
  lost: readonly string[],
  index: AddedIndex,
  path: string,
): readonly (MovedLine | undefined)[] {
  const found: (MovedLine | undefined)[] = lost.map(() => undefined);
  let at = 0;
  while (at < lost.length) {
    const run = longestRun(lost.slice(at), index, path);
    if (run.length === 0) {
      at += 1;
      continue;
    }
    for (const { offset, spot } of run) {
      const line = spot.added.lines[spot.index] ?? 0;
      const { path: to, text } = spot.added;
      found[at + offset] = { path: to, text, line };
      const taken = index.taken.get(spot.added) ?? new Set();
      index.taken.set(spot.added, taken.add(spot.index));
    }
    at += (run.at(-1)?.offset ?? 0) + 1;
  }
  return found;
}

interface Pair {
  readonly offset: number;
  readonly spot: Spot;
}

function longestRun(lost: readonly string[], index: AddedIndex, path: string): readonly Pair[] {
  const [first = ""] = lost;
  if (first === "") return [];
  let best: readonly Pair[] = [];
  let most = 0;
  for (const spot of (index.spots.get(first) ?? []).slice(0, maxSpots)) {
    if (index.taken.get(spot.added)?.has(spot.index)) continue;
    const run = follow(lost, spot, index);
    const weight = run.reduce((sum, { offset }) => sum + weightOf(lost[offset] ?? ""), 0);
    const least = spot.added.path === path ? enough.sameFile : enough.otherFile;
    if (weight < least || weight <= most) continue;
    best = run;
    most = weight;
  }
  return best;
}

/** The pairs of lost and added lines that are equal from there on. */
function follow(lost: readonly string[], { added, index: start }: Spot, { taken }: AddedIndex): Pair[] {
  const pairs: Pair[] = [];
  const used = taken.get(added);
  let index = start;
  for (const [offset, plain] of lost.entries()) {
    if (plain === "") continue;
    while (added.text.plain[added.lines[index] ?? -1] === "") index += 1;
    const line = added.lines[index];
    if (line === undefined || used?.has(index) || added.text.plain[line] !== plain) break;
    pairs.push({ offset, spot: { added, index } });
    index += 1;
  }
  return pairs;
}
