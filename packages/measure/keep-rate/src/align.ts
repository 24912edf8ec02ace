/** Align: finds each line of a text in a later text, and the runs that differ. */
import type { ChangedLines } from "@lathe/edits/diff-lines";
import { anchoredDiff } from "./anchored-diff.ts";
import { reformatted } from "./reformatted.ts";
import type { Text } from "./text.ts";

export interface Alignment {
  /** For each line its lines in the later text: one, or several where it was wrapped; undefined where it is gone. */
  readonly to: readonly (readonly number[] | undefined)[];
  /** Lines with the same content, but not byte for byte. */
  readonly laidOut: ReadonlySet<number>;
  /** Runs of removed and added lines that are more than a new layout. */
  readonly runs: readonly ChangedLines[];
}

function align(before: Text, after: Text): Alignment {
  const to: (readonly number[] | undefined)[] = [];
  const laidOut = new Set<number>();
  const runs = anchoredDiff(before.plain, after.plain);
  let next = 0;
  const upTo = (end: number): void => {
    while (to.length < end) {
      if (before.lines[to.length] !== after.lines[next]) laidOut.add(to.length);
      to.push([next++]);
    }
  };
  for (const run of runs) {
    upTo(run.before[0]);
    const same = reformatted(before.plain.slice(...run.before), after.plain.slice(...run.after));
    for (const lines of same) {
      if (lines) laidOut.add(to.length);
      to.push(lines?.map((line) => line + run.after[0]));
    }
    next = run.after[1];
  }
  upTo(before.lines.length);
  return { to, laidOut, runs };
}

export type Aligner = (before: Text, after: Text) => Alignment;

/** Caches its results, since many changes are in the same files. */
export function createAligner(): Aligner {
  const known = new WeakMap<Text, WeakMap<Text, Alignment>>();
  return (before, after) => {
    const of = known.get(before) ?? new WeakMap<Text, Alignment>();
    known.set(before, of);
    const found = of.get(after) ?? align(before, after);
    of.set(after, found);
    return found;
  };
}
