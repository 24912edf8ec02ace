/** The state of a path on the disk: its entry, with a version for the content of a file. */
import { createHash } from "node:crypto";
import { lstatSync, readlinkSync, type Stats } from "node:fs";
import type { EntryName } from "@lathe/system/held-folder";
import { errorCode } from "../file-failure.ts";
import { type HeldPlaces, ifThere } from "../held-places.ts";
import { type RegularFile, readOpened } from "./read-regular.ts";

/** The entry at a path. `version` is the hash of its content; `stats` are its own, never those of a link's target. */
export type State =
  | { readonly type: "absent" }
  | { readonly type: "file"; readonly version: string; readonly stats: Stats }
  | { readonly type: "link"; readonly target: string; readonly stats: Stats }
  | { readonly type: "folder"; readonly stats: Stats }
  /** A pipe, device or socket: never touched. */
  | { readonly type: "other"; readonly stats: Stats };

/** Content hash of the bytes. */
export function versionOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** *Contract:* throws the file system's errors, except for missing entries. */
export function stateOf(absolute: string, places: HeldPlaces): State {
  const stats = lstatOf(absolute, places);
  if (!stats) return { type: "absent" };
  if (stats.isFile()) {
    // A pipe or a link may have replaced it meanwhile: the open waits for no pipe and follows no link.
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

/** Undefined if nothing is there, also below a file, and behind a link. */
export function lstatOf(absolute: string, places: HeldPlaces): Stats | undefined {
  return ifThere(() => lstatSync(places.at(absolute), { throwIfNoEntry: false }));
}
