/** Reverts a change, judged by the disk's state: right after a failure, and after a crash. */
import { dirname } from "node:path";
import type { Failure } from "@lathe/protocol";
import type { Disk } from "../disk/disk.ts";
import { syncHeld } from "../disk/sync-folders.ts";
import { errorCode, fileFailure } from "../file-failure.ts";
import type { HeldPlaces } from "../held-places.ts";
import { type State, stateOf } from "../reading/state.ts";
import type { Entry, Trace } from "./journal-record.ts";

/** `clear` removes the current entry; `place` creates the wanted one. Each is one system call. */
export interface Action<E extends Entry = Entry> {
  readonly does: "clear" | "place";
  readonly entry: E;
}

export interface Undone {
  /** Absolute paths of restored entries. */
  readonly back: readonly string[];
  /** Absolute paths that match neither the old nor the new state: later work, left alone. */
  readonly left: readonly string[];
  readonly failed: readonly Failure[];
}

/** In order of execution: a folder's content is removed before it, and created after it. */
export function actionsOf<E extends Entry>(entries: readonly E[]): readonly Action<E>[] {
  const sorted = entries.toSorted((a, b) => (a.absolute < b.absolute ? -1 : 1));
  const clears = sorted.filter(clearsWay).map((entry) => ({ does: "clear", entry }) as const);
  const places = sorted.filter((entry) => entry.new.type !== "absent");
  return [...clears.toReversed(), ...places.map((entry) => ({ does: "place", entry }) as const)];
}

/** Whether the path is briefly empty: a folder and a file cannot replace each other at once. */
export function clearsWay({ old, new: after }: Entry): boolean {
  if (old.type === "absent") return false;
  return after.type === "absent" || (old.type === "folder") !== (after.type === "folder");
}

export function traceOf(state: State): Trace | undefined {
  switch (state.type) {
    case "absent":
      return state;
    case "file":
      return { type: "file", version: state.version, mode: state.stats.mode & 0o7777 };
    case "folder":
      return { type: "folder", mode: state.stats.mode & 0o7777 };
    case "link":
      return { type: "link", target: state.target };
    case "other":
      return undefined;
  }
}

export interface DiskPlaces {
  readonly disk: Disk;
  readonly places: HeldPlaces;
}

/** *Contract:* idempotent, so an interrupted undo may be repeated; never throws the disk's errors. */
export function undoActions(actions: readonly Action[], { disk, places }: DiskPlaces): Undone {
  const back: string[] = [];
  const left = new Set<string>();
  const failed: Failure[] = [];
  for (const action of actions.toReversed()) {
    const { absolute } = action.entry;
    places.trim();
    try {
      const found = undoAction(action, { disk, places });
      if (found === "back") back.push(absolute);
      if (found === "left") left.add(absolute);
    } catch (error) {
      failed.push(fileFailure(absolute, error));
    }
  }
  const unsynced = syncHeld(
    actions.map(({ entry }) => dirname(entry.absolute)),
    disk,
    places,
  );
  if (unsynced) failed.push(unsynced);
  return { back, left: [...left], failed };
}

type Found = "back" | "left" | "as before";

function undoAction({ does, entry }: Action, undoing: DiskPlaces): Found {
  const { places } = undoing;
  // A link leads elsewhere: the previous one, or one made since.
  if (places.isMoved(dirname(entry.absolute))) return entry.old.type === "absent" ? "as before" : "left";
  const now = traceOf(stateOf(entry.absolute, places));
  return does === "clear" ? undoClear(entry, now, undoing) : undoPlace(entry, now, undoing);
}

function undoClear(entry: Entry, now: Trace | undefined, { disk, places }: DiskPlaces): Found {
  if (isSame(now, entry.old, entry)) return "as before";
  if (now?.type !== "absent") return "left";
  if (entry.old.type === "folder") disk.mkdir(places.at(entry.absolute), entry.old.mode);
  else if (entry.kept !== undefined) disk.rename(places.at(entry.kept), places.at(entry.absolute));
  return "back";
}

function undoPlace(entry: Entry, now: Trace | undefined, undoing: DiskPlaces): Found {
  const { disk, places } = undoing;
  const { absolute, old, kept } = entry;
  if (!isSame(now, entry.new, entry)) {
    const isEarlier = isSame(now, old, entry) || (now?.type === "absent" && clearsWay(entry));
    return isEarlier ? "as before" : "left";
  }
  if (old.type === "absent" || clearsWay(entry)) return remove(entry, undoing);
  if (kept !== undefined) disk.rename(places.at(kept), places.at(absolute));
  else if (old.type === "file" || old.type === "folder") disk.chmod(places.at(absolute), old.mode);
  return "back";
}

function remove({ absolute, new: after }: Entry, { disk, places }: DiskPlaces): Found {
  if (after.type !== "folder") {
    disk.unlink(places.at(absolute));
    return "back";
  }
  try {
    disk.rmdir(places.at(absolute));
    places.forget(absolute);
    return "back";
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST"].includes(errorCode(error))) throw error;
    // Another process has created something there.
    return "as before";
  }
}

/** The mode distinguishes two states only if nothing else does: some disks store no modes. */
function isSame(now: Trace | undefined, wanted: Trace, { old, new: after }: Entry): boolean {
  if (now === undefined || now.type !== wanted.type) return false;
  if (now.type === "link" && wanted.type === "link") return now.target === wanted.target;
  const isFile = now.type === "file" && wanted.type === "file";
  if (isFile && now.version !== wanted.version) return false;
  const isModeAlone = old.type === after.type && (old.type !== "file" || isVersion(after, old.version));
  return !isModeAlone || !("mode" in now) || !("mode" in wanted) || now.mode === wanted.mode;
}

function isVersion(trace: Trace, version: string): boolean {
  return trace.type === "file" && trace.version === version;
}
