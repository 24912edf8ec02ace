/** The workspace port: files with versions, and changes that happen wholly or not at all. */
import type { Failure } from "../failure.ts";

export interface FileContent {
  /** Relative to the workspace, with `/`. */
  readonly path: string;
  /** Decoded as UTF-8; byte order mark and line endings kept. */
  readonly text: string;
  /** Content hash of the bytes. */
  readonly version: string;
}

export interface FileBytes {
  /** Relative to the workspace, with `/`. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly version: string;
}

export interface Entry {
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "other";
  /** Bytes; 0 for folders. */
  readonly size: number;
}

/** One file's part in a commit; `expected` is the version it must have now, null where it must not exist. */
export type Change =
  | { readonly type: "put"; readonly path: string; readonly expected: string | null; readonly text: string }
  | { readonly type: "delete"; readonly path: string; readonly expected: string }
  /** `to` must not exist; without `text` its bytes stay as they are, whatever they are. */
  | {
      readonly type: "move";
      readonly path: string;
      readonly to: string;
      readonly expected: string;
      readonly text?: string;
    };

/** What became of one change: `path` is where the file is now, or was. */
export interface Committed {
  readonly path: string;
  /** Where it was, of a file that was moved. */
  readonly from?: string;
  readonly before?: string;
  readonly after?: string;
}

/** Reading: in the workspace by any path, outside of it by the real absolute one alone. */
export interface Files {
  /** *Contract:* `not-found` (with near names), `not-a-file`, `not-text`, `too-large` or `no-access` as values. */
  read(path: string): Promise<FileContent | Failure>;
  /** *Contract:* the bytes of any regular file of at most `maxBytes`; the same failures but `not-text`. */
  bytes(path: string, maxBytes: number): Promise<FileBytes | Failure>;
  /** *Contract:* one folder's entries sorted by name. */
  list(path: string): Promise<readonly Entry[] | Failure>;
}

export interface Workspace extends Files {
  /** Real absolute path. */
  readonly root: string;
  /** All else on this machine. *Contract:* a path that leads elsewhere by now is `outside-workspace`; whether it may be read is settled before. */
  readonly outside: Files;
  /** *Contract:* cheap; a mark of a regular file that is another one once it was written; undefined where there is none. */
  stamp(path: string): Promise<string | undefined>;
  /** *Contract:* pure; the version a file with this content would have. */
  versionOf(content: string | Uint8Array): string;
  /**
   * *Contract:* absolute or relative path to the workspace-relative one, symbolic links resolved;
   * `outside-workspace` when it leads out. The path need not exist.
   */
  resolve(path: string): Promise<string | Failure>;
  /**
   * *Contract:* all changes or none, also when the process dies in between; one result for each change, in order.
   * Each expected version is checked right before writing (`stale-version`); files are replaced atomically and durably,
   * keep their mode, and parents are created. Links are followed inside the workspace, but a link itself is neither
   * deleted nor moved. No path may be named twice.
   * Refused with `stale-epoch` when this owner has lost the session.
   */
  commit(changes: readonly Change[]): Promise<readonly Committed[] | Failure>;
}
