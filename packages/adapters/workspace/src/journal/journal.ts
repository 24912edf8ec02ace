/** Records a running change of several files, so that a later process can undo it. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Failure } from "@lathe/protocol";
import type { Entry } from "./journal-record.ts";

export interface Journal {
  /** *Contract:* the path of a new temporary file in a covered folder. */
  temporaryIn(folder: string): string;
  /**
   * *Contract:* call before the first temporary file in a folder; from then on a dead process's are swept
   * from there.
   */
  cover(folders: readonly string[]): Failure | undefined;
  /** *Contract:* call after a temporary file was removed instead of moved to its place. */
  removed(temporary: string): void;
  /**
   * *Contract:* runs the effect while no other process with a journal here runs one; call it after `cover`.
   * Returns `cancelled` without running the effect if the signal aborts first.
   */
  locked(effect: () => Failure | undefined, signal?: AbortSignal): Promise<Failure | undefined>;
  /** *Contract:* durable before the first of the entries is touched; their kept files are durable already. */
  begin(entries: readonly Entry[]): Failure | undefined;
  /**
   * *Contract:* the change is final from now on, done or undone; after a failure a later process may undo it.
   */
  finish(): Failure | undefined;
  /** *Contract:* the change will not be undone, although it could not be finished. */
  abandon(): void;
  /**
   * *Contract:* undoes dead processes' unfinished changes and removes their temporary files; runs once,
   * unless called again.
   */
  recover(): Promise<void>;
  /** *Contract:* removes the journal, unless it contains something to undo; a later use begins a new one. */
  close(): Promise<void>;
}

export function temporaryName(id: string, count: number): string {
  return `.lathe-${id}-${count}.tmp`;
}

export function isTemporaryOf(id: string, name: string): boolean {
  return isTemporary(name) && name.startsWith(`.lathe-${id}-`);
}

/** For any process. */
export function isTemporary(name: string): boolean {
  return /^\.lathe-[0-9a-f]{12}-\d+\.tmp$/.test(name);
}

/** In-memory journal: atomic unless the process dies; does not keep other processes out. */
export function noJournal(): Journal {
  const nothing = (): undefined => undefined;
  const nothingLater = async (): Promise<void> => undefined;
  return {
    temporaryIn: (folder) => join(folder, temporaryName(randomBytes(6).toString("hex"), 0)),
    cover: nothing,
    removed: nothing,
    locked: async (effect) => effect(),
    begin: nothing,
    finish: nothing,
    abandon: nothing,
    recover: nothingLater,
    close: nothingLater,
  };
}
