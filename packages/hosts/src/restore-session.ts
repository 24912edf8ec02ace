/** Restore: the files of a session go back, with the way back in its log before anything changes. */
import { cutOff, explainRefusal, refuseLoss } from "@lathe/orchestrator/rewind/refusals";
import { spansOf } from "@lathe/orchestrator/rewind/spans";
import { knownEnd } from "@lathe/orchestrator/rewind/target";
import {
  type Checkpoints,
  type Draft,
  type Failure,
  isFailure,
  type Restored,
  type Session,
  type SessionLog,
} from "@lathe/protocol";
import { spanChanges } from "./span-changes.ts";
import { systemClock } from "./system-clock.ts";

/** What a session goes back to: `from` is the `seq` of the mark there, absent for the undoing of a rewind. */
export interface Way {
  readonly ref: string;
  readonly from?: number;
  /** Also over what somebody else has changed since. */
  readonly force: boolean;
}

export interface Rewinding {
  readonly log: SessionLog;
  readonly session: Session;
  readonly checkpoints: Checkpoints;
}

/** *Contract:* all or nothing: when the drafts cannot be appended the files are put back. */
export async function restoreSession(
  rewinding: Rewinding,
  way: Way,
  draftsOf: (restored: Restored) => readonly Draft[],
): Promise<Restored | Failure> {
  const { log, session, checkpoints } = rewinding;
  const known = knownEnd(session);
  const refused = way.force ? undefined : known === undefined ? cutOff : await lossOf(rewinding, way);
  if (refused) return explainRefusal(refused);
  const kept = await keepPresent(rewinding);
  if (kept) return kept;
  const expected = known === undefined ? {} : { expected: known };
  const restored = await checkpoints.restore(way.ref, { session: session.id, force: way.force, ...expected });
  if (isFailure(restored)) {
    // Nothing has changed, and what the session last knew of the files is what it still knows.
    if (known !== undefined) await append(log, [taken("after", known)]);
    return explainRefusal(restored);
  }
  const unwritten = await append(log, draftsOf(restored));
  return unwritten ? putBack(rewinding, restored, unwritten) : restored;
}

/** What would go with the session's own changes. */
async function lossOf({ session, checkpoints }: Rewinding, { ref, from }: Way): Promise<Failure | undefined> {
  const last = knownEnd(session);
  if (from === undefined || last === undefined) return undefined;
  const own = await checkpoints.difference(ref, last);
  if (isFailure(own)) return own;
  const back = new Set(own.map(({ path }) => path));
  const spans = spansOf(session.checkpoints.filter(({ seq }) => seq > from));
  const changes = await spanChanges(
    checkpoints,
    spans.filter(({ whose }) => whose !== "session"),
  );
  if (isFailure(changes)) return changes;
  return refuseLoss({
    session: changes.session,
    others: changes.others.intersection(back),
    anybody: changes.anybody.intersection(back),
  });
}

/** Durable, so that a death in the middle leaves the way back in the log. */
async function keepPresent({ log, session, checkpoints }: Rewinding): Promise<Failure | undefined> {
  const present = await checkpoints.take(session.id);
  return isFailure(present) ? present : append(log, [taken("before", present.ref)]);
}

function taken(moment: "before" | "after", ref: string): Draft {
  return { type: "checkpoint.taken", data: { moment, ref, skipped: 0, ms: 0 } };
}

async function putBack(
  { session, checkpoints }: Rewinding,
  { undo, now }: Restored,
  why: Failure,
): Promise<Failure> {
  const back = await checkpoints.restore(undo, { session: session.id, expected: now });
  if (!isFailure(back)) return why;
  const text = `${why.text}; and the files, which had gone back already, could not be put back: ${back.text}`;
  return { ...why, text };
}

/** Durable. */
export async function append(log: SessionLog, drafts: readonly Draft[]): Promise<Failure | undefined> {
  const events = await log.append(drafts, { at: systemClock.now(), durable: true });
  return isFailure(events) ? events : undefined;
}
