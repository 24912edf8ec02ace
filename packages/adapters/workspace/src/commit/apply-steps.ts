/**
 * Carries out steps, all or none: prepares everything beside its place, then puts it in place at once, or
 * reverts it.
 */
import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { type Failure, failure, isFailure, type WithLease } from "@lathe/protocol";
import type { Disk } from "../disk/disk.ts";
import { syncHeld } from "../disk/sync-folders.ts";
import { withoutLinks } from "../disk/without-links.ts";
import { errorCode, fileFailure } from "../file-failure.ts";
import { type HeldPlaces, withPlaces } from "../held-places.ts";
import type { Journal } from "../journal/journal.ts";
import { type Action, actionsOf, clearsWay, undoActions } from "../journal/undo-entries.ts";
import { existsText } from "../reading/spelling.ts";
import { lstatOf } from "../reading/state.ts";
import { changedSince } from "./changed-since.ts";
import { type Prepared, prepareSteps } from "./prepare-steps.ts";
import type { Step } from "./step.ts";

export interface Effects {
  readonly disk: Disk;
  /** Wraps the visible part of the change. */
  readonly withLease: WithLease;
  readonly journal: Journal;
  /** Respected until the change begins. */
  readonly signal?: AbortSignal | undefined;
}

/** The change in progress, and paths to clean up in any case. */
interface Work extends Effects {
  readonly places: HeldPlaces;
  readonly temporary: Set<string>;
}

/**
 * *Contract:* all or none. `stale-version` or `already-exists` if a path is not as its step says. A single
 * system call is atomic by itself; if the process dies among several, a later process undoes them.
 */
export function applySteps(steps: readonly Step[], effects: Effects): Promise<Failure | undefined> {
  return withPlaces((places) => applyIn({ ...effects, places, temporary: new Set() }, steps));
}

async function applyIn(work: Work, steps: readonly Step[]): Promise<Failure | undefined> {
  const all = withParents(steps, work.places);
  if (isFailure(all)) return all;
  const prepared = prepareSteps(all, work);
  try {
    return isFailure(prepared) ? prepared : await work.withLease(() => takeEffect(all, prepared, work));
  } finally {
    for (const path of work.temporary) tidy(path, work);
  }
}

async function takeEffect(
  steps: readonly Step[],
  prepared: readonly Prepared[],
  work: Work,
): Promise<Failure | undefined> {
  const actions = actionsOf(prepared);
  const isAlone = actions.length <= 1;
  const effect = (places: HeldPlaces): Failure | undefined => {
    const here: Work = { ...work, places };
    return changedSince(steps, places) ?? (isAlone ? act(actions, [], here) : change(actions, here));
  };
  const failed = await work.journal.locked(() => work.places.again(effect), work.signal);
  // Alone, it is whole already: others need not wait until it is durable.
  return failed ?? (isAlone ? syncPlaces(prepared, work) : undefined);
}

function change(actions: readonly Action<Prepared>[], work: Work): Failure | undefined {
  const { journal } = work;
  const entries = [...new Set(actions.map(({ entry }) => entry))];
  const refused = journal.begin(entries.map(({ step: _, fresh: __, ...entry }) => entry));
  if (refused) return refused;
  const done: Action<Prepared>[] = [];
  const failed = act(actions, done, work) ?? syncPlaces(entries, work) ?? journal.finish();
  return failed && rollBack(done, failed, work);
}

/** Records finished actions in `done`. */
function act(
  actions: readonly Action<Prepared>[],
  done: Action<Prepared>[],
  work: Work,
): Failure | undefined {
  for (const action of actions) {
    const { path, absolute } = action.entry.step;
    work.places.trim();
    try {
      if (action.does === "clear") clear(action.entry, work);
      else if (!place(action.entry, work)) continue;
      done.push(action);
    } catch (error) {
      const failed = fileFailure(path, error);
      return failed.code === "already-exists" ? { ...failed, text: existsText(path, absolute) } : failed;
    }
  }
  return undefined;
}

function clear({ absolute, old }: Prepared, { disk, places }: Work): void {
  if (old.type !== "folder") disk.unlink(places.at(absolute));
  else {
    disk.rmdir(places.at(absolute));
    places.forget(absolute);
  }
}

/** False if there was nothing to do. */
function place(entry: Prepared, work: Work): boolean {
  const { absolute, old, fresh, step } = entry;
  const { disk, temporary, places } = work;
  const path = places.at(absolute);
  const isNew = old.type === "absent" || clearsWay(entry);
  const { after } = step;
  if (after.type === "mode") disk.chmod(path, after.mode & 0o777);
  else if (after.type === "folder") return placeFolder(entry, isNew, work);
  else if (fresh === undefined) disk.symlink(after.type === "link" ? after.target : "", path);
  else if (isNew) create(places.at(fresh), path, disk);
  else {
    disk.rename(places.at(fresh), path);
    temporary.delete(fresh);
  }
  return true;
}

function placeFolder({ absolute, step: { after } }: Prepared, isNew: boolean, work: Work): boolean {
  const { disk, places } = work;
  const mode = after.type === "folder" ? after.mode : undefined;
  if (isNew) {
    if (lstatOf(absolute, places)?.isDirectory()) return false;
    disk.mkdir(places.at(absolute), mode);
  } else if (mode !== undefined) disk.chmod(places.at(absolute), mode);
  return true;
}

/** A link fails when the name is taken, also by another spelling of it; a rename would replace that file. */
function create(fresh: string, path: string, disk: Disk): void {
  withoutLinks(
    () => disk.link(fresh, path),
    () => {
      if (lstatSync(path, { throwIfNoEntry: false }))
        throw Object.assign(new Error(`EEXIST: ${path}`), { code: "EEXIST" });
      disk.rename(fresh, path);
    },
  );
}

function syncPlaces(entries: readonly Prepared[], { disk, places }: Work): Failure | undefined {
  return syncHeld(
    entries.map(({ absolute }) => dirname(absolute)),
    disk,
    places,
  );
}

/** A path that could not be restored keeps its second name and its record, for the next process. */
function rollBack(done: readonly Action<Prepared>[], failed: Failure, work: Work): Failure {
  const undone = undoActions(done, work);
  if (undone.failed.length === 0) {
    if (work.journal.finish()) work.journal.abandon();
    return failed;
  }
  for (const { entry } of done) if (entry.kept !== undefined) work.temporary.delete(entry.kept);
  const broken = undone.failed.map(({ text }) => text).join(" ");
  return { ...failed, text: `${failed.text} Putting things back failed too: ${broken}` };
}

function tidy(path: string, { disk, journal, places }: Work): void {
  places.trim();
  try {
    disk.unlink(places.at(path));
    journal.removed(path);
  } catch (error) {
    // Never made, renamed, or removed by another process; what cannot be removed now is swept later.
    errorCode(error);
  }
}

/** Adds to a change the folders that its files need. */
function withParents(steps: readonly Step[], places: HeldPlaces): readonly Step[] | Failure {
  const all = new Map(steps.map((step) => [step.absolute, step]));
  for (const step of steps) {
    if (step.after.type === "absent" || step.before.type !== "absent") continue;
    places.trim();
    const refused = addParents(step, all, places);
    if (refused) return refused;
  }
  return [...all.values()];
}

function addParents(child: Step, all: Map<string, Step>, places: HeldPlaces): Failure | undefined {
  let { path, absolute } = child;
  for (;;) {
    path = dirname(path);
    absolute = dirname(absolute);
    const known = all.get(absolute);
    const stats = lstatOf(absolute, places);
    if (known?.after.type === "folder") return undefined;
    if (known && known.after.type !== "absent") return noFolder(child, path);
    if (stats?.isDirectory() && !known) return undefined;
    if (stats && !known) return noFolder(child, path);
    all.set(absolute, {
      path,
      absolute,
      before: known?.before ?? { type: "absent" },
      after: { type: "folder" },
    });
  }
}

function noFolder({ path }: Step, above: string): Failure {
  return failure("not-a-file", `${path} cannot be made: ${above} is not a folder.`);
}
