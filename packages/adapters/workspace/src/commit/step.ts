/**
 * One file's part in a change of several: what must be there now and what is to be there after. The face inside this
 * package, for text commits and for the restoring of checkpoints:
 *
 * ```ts
 * const before = stateOf("/root/a.bin", places);
 * const steps: Step[] = [{ path: "a.bin", absolute: "/root/a.bin", before, after: fileAfter(bytes, 0o755) }];
 * const failed: Failure | undefined = await applySteps(steps, { disk, withLease, journal });
 * ```
 *
 * `applySteps` (in apply-steps.ts) does all steps or none, also across a crash where there is a journal. What it
 * relies on: one step for each path; `absolute` is a real path (its folder's links resolved, see `resolvePath`), and
 * its last part is not followed. Missing parents are made, and a file that a step removes may become a folder of
 * another step's file. `before` is compared with the disk again right before the effect: `stale-version`.
 */
import type { Stats } from "node:fs";
import type { Resolved } from "../reading/resolve-path.ts";
import { type State, versionOf } from "../reading/state.ts";

export type After =
  /** Also for an empty folder; one that is not empty makes the whole change fail. */
  | { readonly type: "absent" }
  | FileAfter
  | { readonly type: "link"; readonly target: string }
  | { readonly type: "folder"; readonly mode?: number }
  /** The same bytes with other permissions. */
  | { readonly type: "mode"; readonly mode: number };

export interface FileAfter {
  readonly type: "file";
  /** Empty if the bytes are copied. */
  readonly bytes: Uint8Array;
  /** The real path of the file to copy, with one character per byte; it must not change before the effect. */
  readonly copied?: string;
  readonly version: string;
  /**
   * Permission bits; by default those of `like`, of the file before, or the user's default for a new file.
   */
  readonly mode?: number;
  /** The file whose mode and owner a moved file takes, if there was none before it. */
  readonly like?: Stats;
  /** The absolute path of a file to hard-link, if the disk supports it: a move. */
  readonly from?: string;
}

export interface Step extends Resolved {
  readonly before: State;
  readonly after: After;
}

export function fileAfter(bytes: Uint8Array, mode?: number): FileAfter {
  return { type: "file", bytes, version: versionOf(bytes), ...(mode !== undefined && { mode }) };
}
