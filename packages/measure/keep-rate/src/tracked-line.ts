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

/**
 * When something came to be. Who rebases a commit of their own had written it before: `at` is when, and `latest` when it
 * was committed anew. Both are the same for all else.
 */
export interface Moment {
  readonly at: number;
  readonly latest: number;
}

/** What was written before the last thing that is known of a line came to it only with the newer commit. */
function timeFor({ since, absences }: TrackedLine, { at, latest }: Moment): number {
  const last = absences.at(-1);
  const known = last?.to ?? last?.from ?? since;
  return at >= known ? at : Math.max(latest, known);
}

/** It was there at that moment. */
export function seeLine(line: TrackedLine, moment: Moment, isCommit: boolean): void {
  const last = line.absences.at(-1);
  if (last && last.to === undefined) last.to = timeFor(line, moment);
  line.isSeen = true;
  line.missingSince = undefined;
  if (isCommit) line.isCommitted = true;
}

/** A commit of its file lacks it, while it was not committed itself. */
export function missLine(line: TrackedLine, moment: Moment): void {
  line.missingSince ??= timeFor(line, moment);
}

/**
 * It was not there at that moment. One that was never seen after its session, and is not there when somebody looks at
 * the files, went at a moment nobody knows: it counts as gone from the start, and not as kept for as long as nobody looked.
 */
export function loseLine(line: TrackedLine, moment: Moment, by: Remover): void {
  if (!isThere(line)) return;
  const isKnown = line.isSeen || by === "agent";
  const from = line.missingSince ?? (isKnown ? timeFor(line, moment) : line.since);
  line.absences.push({ from, by });
}

export function layOut(line: TrackedLine, moment: Moment): void {
  line.laidOutAt ??= timeFor(line, moment);
}

export function isThere(line: TrackedLine): boolean {
  const last = line.absences.at(-1);
  return last === undefined || last.to !== undefined;
}

/** Who had taken it away by then; undefined when it was there. */
export function removedBy(line: TrackedLine, at: number): Remover | undefined {
  return line.absences.find(({ from, to }) => from <= at && (to === undefined || to > at))?.by;
}
