/** What a change of several files leaves behind while it is under way, so that it can be undone by a later process. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Failure } from "@lathe/protocol";
import type { Entry } from "./journal-record.ts";

export interface Journal {
  /** *Contract:* the path of a new temporary file in a folder that was covered. */
  temporaryIn(folder: string): string;
  /** *Contract:* before the first temporary file in a folder; from then on a dead process's are swept from there. */
  cover(folders: readonly string[]): Failure | undefined;
  /** *Contract:* after a temporary file was removed, rather than given its place. */
  removed(temporary: string): void;
  /**
   * *Contract:* runs the effect while no other process that keeps a journal here runs one; after its `cover`.
   * `cancelled`, and the effect is not run, when the signal comes before.
   */
  locked(effect: () => Failure | undefined, signal?: AbortSignal): Promise<Failure | undefined>;
  /** *Contract:* durable before the first of the entries is touched; what they keep is durable already. */
  begin(entries: readonly Entry[]): Failure | undefined;
  /** *Contract:* what was begun stays from now on, done or undone; after a failure it may be undone by a later process. */
  finish(): Failure | undefined;
  /** *Contract:* what was begun will not be undone, although it could not be finished. */
  abandon(): void;
  /** *Contract:* undoes what dead processes left undone and removes their temporary files; does so once, unless asked again. */
  recover(): Promise<void>;
  /** *Contract:* removes it, unless something is left in it that is to be undone; a later use begins a new one. */
  close(): Promise<void>;
}

export function temporaryName(id: string, count: number): string {
  return `.lathe-${id}-${count}.tmp`;
}

export function isTemporaryOf(id: string, name: string): boolean {
  return isTemporary(name) && name.startsWith(`.lathe-${id}-`);
}

/** Of whatever process. */
export function isTemporary(name: string): boolean {
  return /^\.lathe-[0-9a-f]{12}-\d+\.tmp$/.test(name);
}

/** Nothing survives the process: all or none holds unless it dies, and other processes are not kept out. */
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
