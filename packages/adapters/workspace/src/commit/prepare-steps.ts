/** Prepares new files, and second names for replaced ones, before any visible change. */
import { dirname } from "node:path";
import type { Failure } from "@lathe/protocol";
import type { Disk, Nature } from "../disk/disk.ts";
import { syncHeld } from "../disk/sync-folders.ts";
import { withoutLinks } from "../disk/without-links.ts";
import { errorCode, fileFailure } from "../file-failure.ts";
import type { HeldPlaces } from "../held-places.ts";
import type { Journal } from "../journal/journal.ts";
import type { Entry, Trace } from "../journal/journal-record.ts";
import { actionsOf, clearsWay, traceOf } from "../journal/undo-entries.ts";
import { lstatOf, readUnlinked } from "../reading/state.ts";
import type { FileAfter, Step } from "./step.ts";

/** Maximum times that a file may be replaced by another while it is read. */
const maxReplaced = 1_000;

export interface Prepared extends Entry {
  readonly step: Step;
  /** The new content, under its own name in a nearby folder. */
  readonly fresh?: string;
}

export interface Preparation {
  readonly disk: Disk;
  readonly journal: Journal;
  readonly places: HeldPlaces;
  /** Every temporary file that it began to make. */
  readonly temporary: Set<string>;
}

interface Making extends Preparation {
  /** The folder in which a temporary file for this path can be made. */
  readonly folderFor: (absolute: string) => string;
}

export function prepareSteps(
  steps: readonly Step[],
  preparation: Preparation,
): readonly Prepared[] | Failure {
  const entries = steps.map(entryOf);
  // A change of one system call is atomic and needs no undo.
  const isAlone = actionsOf(entries).length <= 1;
  const needs = entries.map((entry) => ({ fresh: needsFresh(entry), kept: !isAlone && needsKept(entry) }));
  const to: Making = { ...preparation, folderFor: folderFinder(entries, preparation.places) };
  const folders = entries.map((entry, index) =>
    needs[index]?.fresh || needs[index]?.kept ? [to.folderFor(entry.absolute)] : [],
  );
  const refused = to.journal.cover(folders.flat());
  if (refused) return refused;
  const prepared: Prepared[] = [];
  for (const [index, entry] of entries.entries()) {
    const { kept = false, fresh = false } = needs[index] ?? {};
    to.places.trim();
    try {
      prepared.push({
        ...entry,
        ...(fresh && { fresh: makeFresh(entry.step, to) }),
        ...(kept && { kept: keep(entry.step, to) }),
      });
    } catch (error) {
      return fileFailure(entry.step.path, error);
    }
  }
  const keeping = prepared.filter(({ kept }) => kept !== undefined);
  return (
    syncHeld(
      keeping.map(({ absolute }) => to.folderFor(absolute)),
      to.disk,
      to.places,
    ) ?? prepared
  );
}

function entryOf(step: Step): Prepared {
  const { absolute, before } = step;
  return { absolute, step, old: traceOf(before) ?? { type: "absent" }, new: newTrace(step) };
}

function newTrace({ before, after }: Step): Trace {
  switch (after.type) {
    case "mode":
      return before.type === "file"
        ? { type: "file", version: before.version, mode: after.mode & 0o777 }
        : { type: "absent" };
    case "file":
      return { type: "file", version: after.version, mode: natureOf(before, after)?.mode ?? 0 };
    case "folder":
      return {
        type: "folder",
        mode: after.mode ?? (before.type === "folder" ? before.stats.mode & 0o7777 : 0),
      };
    default:
      return after;
  }
}

/**
 * The nearest folder that exists and stays: for a file whose folder is yet to be made or removed, one above
 * it on the same disk.
 */
function folderFinder(entries: readonly Entry[], places: HeldPlaces): (absolute: string) => string {
  const doomed = new Set(entries.filter(clearsWay).map(({ absolute }) => absolute));
  const folderFor = (absolute: string): string => {
    const folder = dirname(absolute);
    if (folder === absolute) return folder;
    return !isDoomed(folder) && lstatOf(folder, places)?.isDirectory() ? folder : folderFor(folder);
  };
  // Below a link that is to become a folder there may be folders outside this tree.
  const isDoomed = (folder: string): boolean =>
    doomed.has(folder) || (doomed.size > 0 && dirname(folder) !== folder && isDoomed(dirname(folder)));
  return folderFor;
}

function needsFresh({ step: { after }, old, ...entry }: Prepared): boolean {
  if (after.type === "file") return true;
  const isReplaced = old.type !== "absent" && !clearsWay({ ...entry, old });
  return after.type === "link" && isReplaced;
}

function needsKept({ step: { after }, old }: Prepared): boolean {
  return after.type !== "mode" && (old.type === "file" || old.type === "link");
}

function makeFresh({ absolute, after, before }: Step, to: Making): string {
  const fresh = temporaryFor(absolute, to);
  if (after.type === "link") to.disk.symlink(after.target, to.places.at(fresh));
  if (after.type !== "file") return fresh;
  const { bytes, from, copied } = after;
  const nature = natureOf(before, after);
  const write = (): void => {
    if (copied === undefined) to.disk.write(to.places.at(fresh), bytes, nature);
    else to.disk.copy(to.places.atBytes(copied), to.places.at(fresh), nature);
  };
  if (from === undefined) write();
  else withoutLinks(() => to.disk.link(to.places.at(from), to.places.at(fresh)), write);
  return fresh;
}

/** Gives the current file a second name, from which it can be restored without needing space. */
function keep({ absolute, before }: Step, to: Making): string {
  const kept = temporaryFor(absolute, to);
  if (before.type === "link") to.disk.symlink(before.target, to.places.at(kept));
  if (before.type !== "file") return kept;
  const { stats } = before;
  withoutLinks(
    () => linkAsItIs(absolute, kept, to),
    () => to.disk.write(to.places.at(kept), bytesAt(absolute, to), stats),
  );
  return kept;
}

/** Linux reports a file as missing while it is being replaced, although another one has its name at once. */
function linkAsItIs(from: string, name: string, { disk, places }: Making): void {
  for (let left = maxReplaced; ; left--) {
    try {
      disk.link(places.at(from), places.at(name));
      return;
    } catch (error) {
      // Right before the change, Lathe checks again that it is the expected file.
      if (left === 0 || errorCode(error) !== "ENOENT" || !lstatOf(from, places)) throw error;
    }
  }
}

/** Empty if it is no longer a file: the change is refused before its effect. */
function bytesAt(absolute: string, { places }: Making): Uint8Array {
  return readUnlinked(places.at(absolute))?.bytes ?? Buffer.alloc(0);
}

function natureOf(before: Step["before"], { mode, like }: FileAfter): Nature | undefined {
  const model = before.type === "file" ? before.stats : like;
  if (mode === undefined && model === undefined) return undefined;
  // New bytes are a new program: its setuid bit does not carry over.
  const bits = (mode ?? model?.mode ?? 0) & 0o777;
  return { mode: bits, ...(model && { uid: model.uid, gid: model.gid }) };
}

function temporaryFor(absolute: string, { journal, temporary, folderFor }: Making): string {
  const path = journal.temporaryIn(folderFor(absolute));
  temporary.add(path);
  return path;
}
