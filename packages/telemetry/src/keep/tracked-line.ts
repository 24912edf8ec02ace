/** Tracked line: a line that an agent wrote, and when it was there. */

/** Who took a line away. */
export type Remover = "user" | "agent";

/** A span in which it was not there; without `to` it still is not. */
interface Absence {
  readonly from: number;
  readonly by: Remover;
  to?: number;
}

export interface TrackedLine {
  /** Of the changes that are followed together. */
  readonly change: number;
  /** When its session ended; milliseconds since the epoch, like all times here. */
  readonly since: number;
  /** It was seen in a commit. Before that its absence from one says nothing: it may not have been committed yet. */
  isCommitted: boolean;
  /** Until something else was seen, nobody knows how long it was there. */
  isSeen: boolean;
  /** It was first missing from a commit of its file then, while it was not committed. */
  missingSince: number | undefined;
  /** When a formatter, or somebody who only moved its parts, laid it out otherwise. */
  laidOutAt: number | undefined;
  readonly absences: Absence[];
}

export function trackLine(change: number, since: number): TrackedLine {
  return {
    change,
    since,
    isCommitted: false,
    isSeen: false,
    missingSince: undefined,
    laidOutAt: undefined,
    absences: [],
  };
}

/** It was there at that moment. */
export function seeLine(line: TrackedLine, at: number, isCommit: boolean): void {
  const last = line.absences.at(-1);
  if (last && last.to === undefined) last.to = at;
  line.isSeen = true;
  line.missingSince = undefined;
  if (isCommit) line.isCommitted = true;
}

/**
 * It was not there at that moment. One that was never seen after its session, and is not there when somebody looks at
 * the files, went at a moment nobody knows: it counts as gone from the start, and not as kept for as long as nobody looked.
 */
export function loseLine(line: TrackedLine, at: number, by: Remover): void {
  if (line.absences.at(-1) && line.absences.at(-1)?.to === undefined) return;
  const from = line.missingSince ?? (line.isSeen || by === "agent" ? at : line.since);
  line.absences.push({ from: Math.max(from, line.since), by });
}

export function isThere(line: TrackedLine): boolean {
  const last = line.absences.at(-1);
  return last === undefined || last.to !== undefined;
}

/** Who had taken it away by then; undefined when it was there. */
export function removedBy(line: TrackedLine, at: number): Remover | undefined {
  return line.absences.find(({ from, to }) => from <= at && (to === undefined || to > at))?.by;
}
