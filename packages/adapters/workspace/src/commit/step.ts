/**
 * One file's part in a change of several: what must be there now and what is to be there after. The face inside this
 * package, for text commits and for the restoring of checkpoints:
 *
 * ```ts
 * const before = stateOf("/root/a.bin", places);
 * const steps: Step[] = [{ path: "a.bin", absolute: "/root/a.bin", before, after: fileAfter(bytes, 0o755) }];
 * const failed: Failure | undefined = await applySteps(steps, { disk, fenced, journal });
 * ```
 *
 * `applySteps` (in apply-steps.ts) does all steps or none, also across a crash where there is a journal. What it
 * relies on: one step for each path; `absolute` is a real path (its folder's links resolved, see `resolvePath`), and
 * its last part is not followed. Missing parents are made, and a file that a step removes may become a folder of
 * another step's file. `before` is compared with the disk again right before the effect: `stale-version`.
 */
import { createHash } from "node:crypto";
import { lstatSync, readlinkSync, type Stats } from "node:fs";
import type { EntryName } from "@lathe/system/held-folder";
import { errorCode } from "../file-failure.ts";
import { type HeldPlaces, ifThere } from "../held-places.ts";
import { type RegularFile, readOpened } from "../reading/read-regular.ts";
import type { Resolved } from "../reading/resolve-path.ts";

/** What is at a path; `version` is the content's hash. `stats` are of the thing itself, a link's not followed. */
export type State =
  | { readonly type: "absent" }
  | { readonly type: "file"; readonly version: string; readonly stats: Stats }
  | { readonly type: "link"; readonly target: string; readonly stats: Stats }
  | { readonly type: "folder"; readonly stats: Stats }
  /** A pipe, device or socket: never touched. */
  | { readonly type: "other"; readonly stats: Stats };

export type After =
  /** An empty folder too; one that is not empty makes the whole change fail. */
  | { readonly type: "absent" }
  | FileAfter
  | { readonly type: "link"; readonly target: string }
  | { readonly type: "folder"; readonly mode?: number }
  /** The same bytes with other permissions. */
  | { readonly type: "mode"; readonly mode: number };

export interface FileAfter {
  readonly type: "file";
  /** Nothing where they are copied. */
  readonly bytes: Uint8Array;
  /** The real path of a file whose bytes they are, one character per byte; it must not change before the effect. */
  readonly copied?: string;
  readonly version: string;
  /** Permission bits; without them those of `like`, of the file before, or the user's default for a new file. */
  readonly mode?: number;
  /** The file whose mode and owner it takes when there is none before it: a moved one. */
  readonly like?: Stats;
  /** The absolute path of a file that it is to be another name of, where the disk has that: a move. */
  readonly from?: string;
}

export interface Step extends Resolved {
  readonly before: State;
  readonly after: After;
}

export function fileAfter(bytes: Uint8Array, mode?: number): FileAfter {
  return { type: "file", bytes, version: versionOf(bytes), ...(mode !== undefined && { mode }) };
}

/** Content hash of the bytes. */
export function versionOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** *Contract:* throws what the file system throws, but for what is missing. */
export function stateOf(absolute: string, places: HeldPlaces): State {
  const stats = lstatOf(absolute, places);
  if (!stats) return { type: "absent" };
  if (stats.isFile()) {
    // A pipe or a link may have taken its place meanwhile: the open waits for no pipe and follows no link.
    const read = readUnlinked(places.at(absolute));
    return read ? { type: "file", version: versionOf(read.bytes), stats } : { type: "other", stats };
  }
  if (stats.isSymbolicLink()) return { type: "link", target: readlinkSync(places.at(absolute)), stats };
  return { type: stats.isDirectory() ? "folder" : "other", stats };
}

/** Undefined for what is no regular file. */
export function readUnlinked(reached: EntryName): RegularFile | undefined {
  try {
    return readOpened(reached);
  } catch (error) {
    if (errorCode(error) !== "ELOOP") throw error;
    return undefined;
  }
}

/** Undefined where there is nothing, also below a file, and behind a link. */
export function lstatOf(absolute: string, places: HeldPlaces): Stats | undefined {
  return ifThere(() => lstatSync(places.at(absolute), { throwIfNoEntry: false }));
}
