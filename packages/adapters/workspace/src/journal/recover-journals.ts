/** Undoes dead processes' half-done changes in a folder, and removes their temporary files and journals. */
import { readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { Failure } from "@lathe/protocol";
import { bytePath } from "@lathe/system/paths";
import type { Disk } from "../disk/disk.ts";
import { syncHeld } from "../disk/sync-folders.ts";
import { errorCode, fileFailure } from "../file-failure.ts";
import { type HeldPlaces, ifThere, withPlaces } from "../held-places.ts";
import { isTemporaryOf } from "./journal.ts";
import { type JournalName, journalName, journalsIn } from "./journal-names.ts";
import { decodeRecords, doneMark, type StoredRecord } from "./journal-record.ts";
import type { ProcessOwner } from "./process-owner.ts";
import { lockHolder } from "./root-lock.ts";
import { actionsOf, type DiskPlaces, undoActions } from "./undo-entries.ts";

/** The outcome of a change in whose middle a process had died. */
export interface Recovery {
  /** Paths that were restored. */
  readonly back: readonly string[];
  /** Paths that changed since, and were left alone. */
  readonly left: readonly string[];
  /** Failed restores; the next process tries again. */
  readonly failed: readonly Failure[];
}

export interface RecoveryOptions {
  readonly folder: string;
  readonly root: string;
  readonly disk: Disk;
  readonly owner: ProcessOwner;
  readonly lock: string;
  readonly isAlive: (owner: ProcessOwner) => boolean;
  readonly onRecovered?: ((recovery: Recovery) => void) | undefined;
  /** Makes this process's own journal, which claims and the lock need. */
  readonly open: () => Failure | undefined;
  readonly acquire: () => Promise<Failure | undefined>;
  readonly release: () => void;
}

/** *Contract:* may be killed at any moment and run again, by several processes at once. */
export async function recoverJournals(options: RecoveryOptions): Promise<void> {
  for (const head of deadHeads(options)) {
    try {
      await withPlaces((places) => new Recoverer(options, places).recover(head));
    } catch (error) {
      // Its claimed journals stay for the next process.
      errorCode(error);
    }
  }
}

/** A journal that a dead process had claimed is recovered together with that process's own. */
function deadHeads({ folder, owner: me, isAlive }: RecoveryOptions): readonly JournalName[] {
  const journals = journalsIn(folder).filter(({ owner }) => owner.id !== me.id);
  return journals.filter(({ owner, claimer }) => {
    if (!claimer) return !isAlive(owner);
    return !isAlive(claimer) && !journals.some((other) => other.owner.id === claimer.id);
  });
}

class Recoverer {
  readonly #options: RecoveryOptions;
  readonly #places: HeldPlaces;
  readonly #claimed: JournalName[] = [];

  constructor(options: RecoveryOptions, places: HeldPlaces) {
    this.#options = options;
    this.#places = places;
  }

  async recover(head: JournalName): Promise<void> {
    const { open, lock, acquire, release, disk } = this.#options;
    if (open() || !this.#claim(head)) return;
    this.#claimAllOf(head.owner);
    const records = this.#claimed.map((name) => ({ name, records: recordsOf(name.path) }));
    const isUnfinished = records.some((one) => one.records.some(isHalfDone));
    // Only the claimer of a dead holder's journal may remove its lock: no other lock can exist meanwhile.
    const holder = lockHolder(lock);
    const isHeir = this.#claimed.some(({ owner }) => owner.id === holder?.id);
    if (isUnfinished && !isHeir && (await acquire())) return this.#giveBack(this.#claimed);
    const places = this.#places;
    const isDone = records.map(
      (one) => this.#undo(one.name, one.records) && sweep(one.name.owner, one.records, { disk, places }),
    );
    const done = records.filter((_, index) => isDone[index]);
    const failed = records.filter((_, index) => !isDone[index]);
    if (isUnfinished || isHeir) release();
    this.#giveBack(failed.map((one) => one.name));
    // Removes the lock durably before the journals that could recover it.
    quietly(() => disk.syncFolder(this.#options.folder));
    for (const one of done) quietly(() => disk.unlink(one.name.path));
  }

  /** A rename has one winner. */
  #claim(found: JournalName): boolean {
    const { folder, disk, owner } = this.#options;
    const mine = journalName(folder, found.owner, owner);
    try {
      disk.rename(found.path, mine.path);
    } catch (error) {
      errorCode(error);
      return false;
    }
    this.#claimed.push(mine);
    return true;
  }

  #claimAllOf(claimer: ProcessOwner): void {
    for (const found of journalsIn(this.#options.folder)) {
      if (found.claimer?.id === claimer.id && this.#claim(found)) this.#claimAllOf(found.owner);
    }
  }

  /** Lets the next process try. */
  #giveBack(names: readonly JournalName[]): void {
    const { folder, disk } = this.#options;
    for (const { path, owner } of names) quietly(() => disk.rename(path, journalName(folder, owner).path));
  }

  /** Whether nothing is left to undo in this journal. */
  #undo(name: JournalName, records: readonly StoredRecord[]): boolean {
    const { disk, onRecovered, root } = this.#options;
    const shown = (path: string): string => relative(root, path).replaceAll(sep, "/");
    for (const { record, position } of records.filter(isHalfDone).toReversed()) {
      if (record.type !== "change") continue;
      const { back, left, failed } = undoActions(actionsOf(record.entries), { disk, places: this.#places });
      // Its saved files are gone, and another try will not bring them back.
      const isHopeless = failed.every(({ code }) => code === "not-found");
      const problem = isHopeless ? markDone(name.path, position, disk) : undefined;
      if (back.length + left.length + failed.length > 0) {
        onRecovered?.({ back: back.map(shown), left: left.map(shown), failed });
      }
      if (!isHopeless || problem) return false;
    }
    return true;
  }
}

function recordsOf(path: string): readonly StoredRecord[] {
  return decodeRecords(readFileSync(path));
}

function isHalfDone({ record, isDone }: StoredRecord): boolean {
  return record.type === "change" && !isDone;
}

/** Mark before sweeping the kept files: afterwards it could not be undone again. */
function markDone(path: string, position: number, disk: Disk): Failure | undefined {
  try {
    disk.writeAt(path, doneMark, position);
    return undefined;
  } catch (error) {
    return fileFailure(path, error);
  }
}

/** Whether none is left, except in folders that are gone. */
function sweep({ id }: ProcessOwner, records: readonly StoredRecord[], reach: DiskPlaces): boolean {
  const folders = records.flatMap(({ record }) => (record.type === "folders" ? record.folders : []));
  return [...new Set(folders)].every((folder) => safely(() => sweepFolder(folder, id, reach), false));
}

function sweepFolder(folder: string, id: string, { disk, places }: DiskPlaces): boolean {
  places.trim();
  const entries = ifThere(() => places.folder(bytePath(folder)).list()) ?? [];
  const names = entries.map(({ name }) => name).filter((name) => isTemporaryOf(id, name));
  for (const name of names) disk.unlink(places.at(join(folder, name)));
  // Make it durable before removing the journal that names the folder.
  return names.length === 0 || syncHeld([folder], disk, places) === undefined;
}

function quietly(action: () => void): void {
  safely(action, undefined);
}

/** Unreachable or missing: no work is lost. */
function safely<T>(action: () => T, otherwise: T): T {
  try {
    return action();
  } catch (error) {
    errorCode(error);
    return otherwise;
  }
}
