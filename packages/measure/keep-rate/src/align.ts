/** Align: where each line of a text is in a later one, and the runs that differ. */
import type { ChangedLines } from "@lathe/edits/diff-lines";
import { anchoredDiff } from "./anchored-diff.ts";
import { reformatted } from "./reformatted.ts";
import type { Text } from "./text.ts";

export interface Alignment {
  /** For each line, the lines it is now: one, or several where it was wrapped; undefined for one that is gone. */
  readonly to: readonly (readonly number[] | undefined)[];
  /** Lines that say the same, but not byte for byte. */
  readonly laidOut: ReadonlySet<number>;
  /** Runs of lines that are gone and new, where they are neither equal nor laid out otherwise. */
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

/** Keeps what it found: many changes lie in the same files. */
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
