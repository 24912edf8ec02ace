/** Pairs the lines of the replacement with those of the replaced text. */
import { type ChangedLines, diffLines } from "../document/diff-lines.ts";
import type { Hunk } from "../hunk.ts";
import { similarity } from "./tokens.ts";

/** Less similar lines do not count as one edited line. */
const alike = 0.5;
/** Maximum pairs compared in one changed run; in longer runs lines pair by position if the counts agree. */
const maxPairs = 2_500;

export interface Alignment {
  /**
   * For each new line its old line, ascending, whitespace at both ends ignored; undefined for an added line.
   */
  readonly twins: readonly (number | undefined)[];
  /** New lines that are paired because they are similar, if lines were also added or removed. */
  readonly loose: ReadonlySet<number>;
}

export function alignLines({ old, new: fresh, kept }: Pick<Hunk, "old" | "new" | "kept">): Alignment {
  const runs =
    kept?.length === fresh.length
      ? runsBetween(kept, old.length)
      : diffLines(old.map(withoutEnd), fresh.map(withoutEnd));
  const twins: (number | undefined)[] = [];
  const loose = new Set<number>();
  let at = 0;
  const keep = (until: number): void => {
    while (twins.length < until) twins.push(at++);
  };
  for (const run of runs) {
    keep(run.after[0]);
    const a = old.slice(...run.before).map((line) => line.trim());
    const b = fresh.slice(...run.after).map((line) => line.trim());
    for (const [i, twin] of pairsIn(a, b).entries()) {
      if (a.length !== b.length && twin !== undefined && a[twin] !== b[i]) loose.add(twins.length);
      twins.push(twin === undefined ? undefined : run.before[0] + twin);
    }
    at = run.before[1];
  }
  keep(fresh.length);
  return { twins, loose };
}

function withoutEnd(line: string): string {
  return line.trimEnd();
}

/** In a changed run: first lines that only moved, then similar lines. */
function pairsIn(a: readonly string[], b: readonly string[]): readonly (number | undefined)[] {
  const twins: (number | undefined)[] = [];
  let at = 0;
  for (const run of diffLines(a, b)) {
    while (twins.length < run.after[0]) twins.push(at++);
    const pairs = alikePairs(a.slice(...run.before), b.slice(...run.after));
    for (const one of pairs.map((twin) => (twin === undefined ? undefined : run.before[0] + twin)))
      twins.push(one);
    at = run.before[1];
  }
  while (twins.length < b.length) twins.push(at++);
  return twins;
}

/** The runs between the lines a patch keeps. */
function runsBetween(kept: readonly (number | undefined)[], end: number): readonly ChangedLines[] {
  const runs: ChangedLines[] = [];
  let old = 0;
  let fresh = 0;
  for (const [i, line] of [...kept, end].entries()) {
    if (line === undefined) continue;
    if (line > old || i > fresh) runs.push({ before: [old, line], after: [fresh, i] });
    old = line + 1;
    fresh = i + 1;
  }
  return runs;
}

function alikePairs(old: readonly string[], fresh: readonly string[]): readonly (number | undefined)[] {
  if (old.length === 1 && fresh.length === 1) return [0];
  if (old.length * fresh.length > maxPairs) {
    return fresh.map((_, i) => (old.length === fresh.length ? i : undefined));
  }
  return bestPairs(old, fresh);
}

/** The ascending pairing with the greatest sum of similarities. */
function bestPairs(old: readonly string[], fresh: readonly string[]): readonly (number | undefined)[] {
  const width = fresh.length + 1;
  const score = (i: number, j: number): number => {
    const value = similarity(old[i] ?? "", fresh[j] ?? "");
    return value < alike ? 0 : value;
  };
  const best = new Float64Array((old.length + 1) * width);
  const at = (i: number, j: number): number => best[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      const pair = score(i, j);
      const with_ = pair > 0 ? pair + at(i + 1, j + 1) : 0;
      best[i * width + j] = Math.max(with_, at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: (number | undefined)[] = fresh.map(() => undefined);
  for (let i = 0, j = 0; i < old.length && j < fresh.length; ) {
    const pair = score(i, j);
    if (pair > 0 && at(i, j) === pair + at(i + 1, j + 1)) pairs[j++] = i++;
    else if (at(i, j) === at(i + 1, j)) i++;
    else j++;
  }
  return pairs;
}
