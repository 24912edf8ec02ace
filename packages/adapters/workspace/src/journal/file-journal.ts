/** The journal of one process as a file: each record is durable before the change that it describes. */
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Failure, isFailure } from "@lathe/protocol";
import type { Disk } from "../disk/disk.ts";
import { makeFolder } from "../disk/make-folder.ts";
import { syncFolders, syncHeld } from "../disk/sync-folders.ts";
import { errorCode, fileFailure } from "../file-failure.ts";
import { withPlaces } from "../held-places.ts";
import { type Journal, temporaryName } from "./journal.ts";
import { hasJournals, journalName, lockPath } from "./journal-names.ts";
import { doneMark, type Entry, encodeRecord, type JournalRecord } from "./journal-record.ts";
import { newOwner, ownerName, type ProcessOwner } from "./process-owner.ts";
import { type Recovery, recoverJournals } from "./recover-journals.ts";
import { acquireLock } from "./root-lock.ts";

export interface FileJournalOptions {
  /** A folder for this root alone; made when first needed. */
  readonly folder: string;
  readonly root: string;
  readonly disk: Disk;
  readonly isAlive: (owner: ProcessOwner) => boolean;
  /** Called with the outcome if a process had died in the middle of a change. */
  readonly onRecovered?: ((recovery: Recovery) => void) | undefined;
}

interface Written {
  length: number;
  /** Folders that the file names. */
  readonly covered: Set<string>;
  /** Folders from which temporary files were removed since. */
  readonly untidy: Set<string>;
  /** Positions of records of changes that are neither done nor undone. */
  readonly begun: number[];
}

export function fileJournal(options: FileJournalOptions): Journal {
  return new FileJournal(options);
}

class FileJournal implements Journal {
  readonly #options: FileJournalOptions;
  readonly #lock: string;
  #own: ProcessOwner | undefined;
  #written: Written | undefined;
  #count = 0;
  #recovered: Promise<void> | undefined;
  /** The lock keeps other processes out; this queue keeps the process's own changes apart. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: FileJournalOptions) {
    this.#options = options;
    this.#lock = lockPath(options.folder);
  }

  /** Made when first needed: readers need it only to recover from a crash. */
  get #owner(): ProcessOwner {
    this.#own ??= newOwner();
    return this.#own;
  }

  get #path(): string {
    return journalName(this.#options.folder, this.#owner).path;
  }

  temporaryIn(folder: string): string {
    this.#count += 1;
    return join(folder, temporaryName(this.#owner.id, this.#count));
  }

  cover(folders: readonly string[]): Failure | undefined {
    const written = this.#opened();
    if (isFailure(written)) return written;
    const missing = folders.filter((folder) => !written.covered.has(folder));
    if (missing.length === 0) return undefined;
    const position = this.#append({ type: "folders", folders: missing });
    if (isFailure(position)) return position;
    for (const folder of missing) written.covered.add(folder);
    return undefined;
  }

  removed(temporary: string): void {
    this.#written?.untidy.add(dirname(temporary));
  }

  locked(effect: () => Failure | undefined, signal?: AbortSignal): Promise<Failure | undefined> {
    const turn = this.#turn.then(async () => {
      const refused = await this.#acquire(signal);
      if (refused) return refused;
      try {
        return effect();
      } finally {
        this.#release();
      }
    });
    // The next call has its own result, whatever this one's.
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  begin(entries: readonly Entry[]): Failure | undefined {
    const position = this.#append({ type: "change", entries });
    if (!isFailure(position)) {
      this.#written?.begun.push(position);
      return undefined;
    }
    // The record may exist all the same, and would undo later changes.
    this.abandon();
    return position;
  }

  finish(): Failure | undefined {
    const position = this.#written?.begun.at(-1);
    if (position === undefined) return undefined;
    try {
      this.#options.disk.writeAt(this.#path, doneMark, position);
    } catch (error) {
      return fileFailure(this.#path, error);
    }
    this.#written?.begun.pop();
    return undefined;
  }

  abandon(): void {
    const { disk, folder } = this.#options;
    try {
      disk.unlink(this.#path);
    } catch {
      // Nothing else is possible: the disk accepts neither a mark nor this.
    }
    syncFolders([folder], disk);
    this.#written = undefined;
  }

  recover(): Promise<void> {
    this.#recovered ??= this.#recoverDead();
    return this.#recovered;
  }

  async close(): Promise<void> {
    if (!this.#written || this.#written.begun.length > 0) return;
    const { disk, folder } = this.#options;
    const untidy = [...this.#written.untidy];
    // Temporary files and the lock that return after a power cut, without this journal, would stay for ever.
    const failed =
      (await withPlaces(async (places) => syncHeld(untidy, disk, places))) ?? syncFolders([folder], disk);
    if (!failed) this.abandon();
  }

  #acquire(signal?: AbortSignal): Promise<Failure | undefined> {
    return acquireLock({
      ...this.#options,
      signal,
      path: this.#lock,
      journal: this.#path,
      owner: this.#owner,
      recover: () => this.#recoverDead(),
    });
  }

  #release(): void {
    try {
      this.#options.disk.unlink(this.#lock);
    } catch (error) {
      // Its holder may still use it; once that process ends, it is recovered.
      errorCode(error);
    }
  }

  async #recoverDead(): Promise<void> {
    if (!hasJournals(this.#options.folder)) return;
    await recoverJournals({
      ...this.#options,
      owner: this.#owner,
      lock: this.#lock,
      open: () => this.cover([]),
      acquire: () => this.#acquire(),
      release: () => this.#release(),
    });
  }

  /** Made again if it was removed. */
  #opened(): Written | Failure {
    if (this.#written && lstatSync(this.#path, { throwIfNoEntry: false })) return this.#written;
    const { disk, folder, root } = this.#options;
    const bytes = encodeRecord({ type: "owner", v: 1, owner: ownerName(this.#owner), root });
    try {
      makeFolder(folder, disk);
      disk.write(this.#path, bytes, { mode: 0o600 });
      disk.syncFolder(folder);
    } catch (error) {
      this.#tidy();
      return fileFailure(this.#path, error);
    }
    this.#written = { length: bytes.length, covered: new Set(), untidy: new Set(), begun: [] };
    return this.#written;
  }

  #tidy(): void {
    try {
      this.#options.disk.unlink(this.#path);
    } catch {
      // It was not made, or will be cleaned up after this process.
    }
  }

  #append(record: JournalRecord): number | Failure {
    const written = this.#written;
    if (!written) throw new Error("a journal is covered before it is used");
    const bytes = encodeRecord(record);
    try {
      this.#options.disk.writeAt(this.#path, bytes, written.length);
    } catch (error) {
      return fileFailure(this.#path, error);
    }
    const position = written.length;
    written.length += bytes.length;
    return position;
  }
}
