/** Carries out steps, all or none: everything is prepared beside its place, put in place at once, or put back. */
import { dirname } from "node:path";
import { type Failure, type Fenced, isFailure } from "@lathe/protocol";
import type { Disk } from "../disk.ts";
import { errorCode, fileFailure } from "../file-failure.ts";
import type { Journal } from "../journal/journal.ts";
import { existsText } from "../reading/spelling.ts";
import { changedSince } from "./changed-since.ts";
import { type Prepared, prepareSteps } from "./prepare-steps.ts";
import { lstatOf, type Step } from "./step.ts";
import { syncFolders } from "./sync-folders.ts";
import { type Action, actionsOf, clearsWay, undoActions } from "./undo-entries.ts";
import { withParents } from "./with-parents.ts";
import { withoutLinks } from "./without-links.ts";

export interface Effects {
  readonly disk: Disk;
  /** Around what others can see. */
  readonly fenced: Fenced;
  readonly journal: Journal;
  /** Heard until it begins. */
  readonly signal?: AbortSignal | undefined;
}

/** What is being done, and the paths that are to be tidied away in any case. */
interface Work extends Effects {
  readonly temporary: Set<string>;
}

/**
 * *Contract:* all or none. `stale-version` or `already-exists` when something is not as its step says. A single
 * system call is atomic by itself; several are undone by a later process if this one dies among them.
 */
export async function applySteps(steps: readonly Step[], effects: Effects): Promise<Failure | undefined> {
  const all = withParents(steps);
  if (isFailure(all)) return all;
  const work: Work = { ...effects, temporary: new Set() };
  const prepared = prepareSteps(all, work);
  try {
    return isFailure(prepared) ? prepared : await effects.fenced(() => takeEffect(all, prepared, work));
  } finally {
    for (const path of work.temporary) tidy(path, effects);
  }
}

async function takeEffect(
  steps: readonly Step[],
  prepared: readonly Prepared[],
  work: Work,
): Promise<Failure | undefined> {
  const actions = actionsOf(prepared);
  const isAlone = actions.length <= 1;
  const failed = await work.journal.locked(
    () => changedSince(steps) ?? (isAlone ? act(actions, [], work) : change(actions, work)),
    work.signal,
  );
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

/** Notes in `done` what it has done. */
function act(
  actions: readonly Action<Prepared>[],
  done: Action<Prepared>[],
  work: Work,
): Failure | undefined {
  for (const action of actions) {
    const { path, absolute } = action.entry.step;
    try {
      if (action.does === "clear") clear(action.entry, work.disk);
      else if (!place(action.entry, work)) continue;
      done.push(action);
    } catch (error) {
      const failed = fileFailure(path, error);
      return failed.code === "already-exists" ? { ...failed, text: existsText(path, absolute) } : failed;
    }
  }
  return undefined;
}

function clear({ absolute, old }: Prepared, disk: Disk): void {
  if (old.type === "folder") disk.rmdir(absolute);
  else disk.unlink(absolute);
}

/** False when nothing was to be done. */
function place(entry: Prepared, work: Work): boolean {
  const { absolute, old, fresh, step } = entry;
  const { disk, temporary } = work;
  const isNew = old.type === "absent" || clearsWay(entry);
  const { after } = step;
  if (after.type === "mode") disk.chmod(absolute, after.mode & 0o777);
  else if (after.type === "folder") return placeFolder(entry, isNew, disk);
  else if (fresh === undefined) disk.symlink(after.type === "link" ? after.target : "", absolute);
  else if (isNew) create(fresh, absolute, disk);
  else {
    disk.rename(fresh, absolute);
    temporary.delete(fresh);
  }
  return true;
}

function placeFolder({ absolute, step: { after } }: Prepared, isNew: boolean, disk: Disk): boolean {
  const mode = after.type === "folder" ? after.mode : undefined;
  if (isNew) {
    if (lstatOf(absolute)?.isDirectory()) return false;
    disk.mkdir(absolute, mode);
  } else if (mode !== undefined) disk.chmod(absolute, mode);
  return true;
}

/** A link fails when the name is taken, also by another spelling of it; a rename would replace that file. */
function create(fresh: string, path: string, disk: Disk): void {
  withoutLinks(
    () => disk.link(fresh, path),
    () => {
      if (lstatOf(path)) throw Object.assign(new Error(`EEXIST: ${path}`), { code: "EEXIST" });
      disk.rename(fresh, path);
    },
  );
}

function syncPlaces(entries: readonly Prepared[], { disk }: Work): Failure | undefined {
  return syncFolders(
    entries.map(({ absolute }) => dirname(absolute)),
    disk,
  );
}

/** What could not be put back keeps its other name and its record, for the process after this one. */
function rollBack(done: readonly Action<Prepared>[], failed: Failure, work: Work): Failure {
  const undone = undoActions(done, work.disk);
  if (undone.failed.length === 0) {
    if (work.journal.finish()) work.journal.abandon();
    return failed;
  }
  for (const { entry } of done) if (entry.kept !== undefined) work.temporary.delete(entry.kept);
  const broken = undone.failed.map(({ text }) => text).join(" ");
  return { ...failed, text: `${failed.text} Putting things back failed too: ${broken}` };
}

function tidy(path: string, { disk, journal }: Effects): void {
  try {
    disk.unlink(path);
    journal.removed(path);
  } catch (error) {
    // Never made, renamed away, or removed by somebody else; what cannot be removed now is swept later.
    errorCode(error);
  }
}
