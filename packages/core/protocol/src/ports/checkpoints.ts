/** The checkpoints port: what the files were at some moment, kept outside the project, and the way back there. */
import type { Failure } from "../failure.ts";

/**
 * Why something is not in a checkpoint; `ignored`: a folder that git ignores, `repository`: what git keeps in `.git`,
 * `special`: a pipe, socket or device, `lathe`: Lathe's own files.
 */
export type SkipReason = "ignored" | "too-large" | "unreadable" | "special" | "lathe" | "repository";

export interface SkippedPath {
  readonly path: string;
  readonly why: SkipReason;
}

export interface Checkpoint {
  /** The same as before when nothing has changed. */
  readonly ref: string;
  /** What it does not hold, the first 100 of it. */
  readonly skipped: readonly SkippedPath[];
  readonly skippedCount: number;
}

/** A file or link in a checkpoint; `skipped`: there was something that it does not hold. */
export interface FileState {
  readonly type: "file" | "link" | "skipped";
  /** Permission bits; 0 for links and what was skipped. */
  readonly mode: number;
  /** Content hash; equal for equal bytes. */
  readonly content: string;
}

export interface FileDifference {
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly kind: "added" | "modified" | "deleted" | "mode";
  readonly before?: FileState;
  readonly after?: FileState;
  readonly binary: boolean;
  /** Unified text; absent for binary and large files, and past a bound for all of it together. */
  readonly diff?: string;
}

export interface DifferenceOptions {
  /** False: without texts, which need not be read then; nothing is said of what is binary. */
  readonly texts?: boolean;
}

/** `other`: a folder, a link, or something that the checkpoint does not hold. */
export type FileInCheckpoint =
  | { readonly type: "file"; readonly bytes: Uint8Array }
  | { readonly type: "absent" }
  | { readonly type: "other" };

export interface RestoreOptions {
  /** The session for which the present is kept first. */
  readonly session: string;
  /**
   * The last state that the session knows: what is the same there as in the checkpoint is left alone, whatever another program
   * has made of it since. Absent: everything becomes as in the checkpoint.
   */
  readonly expected?: string;
  /** Also over what is not as `expected`. */
  readonly force?: boolean;
  /** Files that are left alone whatever they are, relative to the root. */
  readonly spare?: readonly string[];
  /** Heard until the files begin to change. */
  readonly signal?: AbortSignal;
}

/** `added-since`: files put, since the expected state, into a folder that would be removed. */
type LeftReason = SkipReason | "added-since";

interface LeftPath {
  readonly path: string;
  readonly why: LeftReason;
}

export interface RestoreResult {
  /** The state before it: restoring that undoes it. */
  readonly undo: string;
  /** The state after it: what to expect from now on. */
  readonly now: string;
  readonly changed: readonly string[];
  /** What is not as in the checkpoint because one of the two does not hold it, or because it belongs to another user. */
  readonly left: readonly LeftPath[];
}

export interface CollectedStore {
  /** Bytes of the store. */
  readonly before: number;
  readonly after: number;
  /** Sessions whose checkpoints had to go for room. */
  readonly dropped: readonly string[];
}

/** For one folder. Calls are carried out one after the other; other processes may work in the same folder. */
export interface Checkpoints {
  /**
   * *Contract:* the state of the files now, kept for the session until there is no room and it is the oldest. Never
   * touches the project. `too-large` past the caps or the time budget (what was done counts for the next attempt),
   * `disk-full`, `no-access`, `command-timeout`, `cancelled`. `retry: "never"` only where there can be no checkpoints at
   * all, as without git.
   */
  take(session: string, options?: { readonly signal?: AbortSignal }): Promise<Checkpoint | Failure>;
  /** *Contract:* sorted by path; `to` absent: the files now. `not-found` for a ref that is gone, `log-corrupt` for a broken one. */
  difference(
    from: string,
    to?: string,
    options?: DifferenceOptions,
  ): Promise<readonly FileDifference[] | Failure>;
  /** *Contract:* the paths of `difference`, without what reading the files costs. */
  changedPaths(from: string, to?: string): Promise<readonly string[] | Failure>;
  /** *Contract:* `path` relative to the root, with `/`; `not-found` for a ref that is gone. */
  read(ref: string, path: string): Promise<FileInCheckpoint | Failure>;
  /**
   * *Contract:* contents, permissions, links and folders as in the checkpoint, what was created since deleted; all or
   * nothing, also when the process dies (put back when the folder is next opened). What a checkpoint does not hold is
   * never touched. `stale-version`, and nothing is done, when something it would change is not as `expected`, without `force`.
   */
  restore(ref: string, options: RestoreOptions): Promise<RestoreResult | Failure>;
  /** *Contract:* packs the store, and makes room in it when it is above its quota, oldest sessions first. */
  collect(): Promise<CollectedStore | Failure>;
  /** *Contract:* ends what runs, as `cancelled` or whole; idempotent, and every later call is `cancelled`. */
  close(): Promise<void>;
}
