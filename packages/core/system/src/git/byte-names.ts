/** Names and paths as strings with one character per byte, so that no byte is lost or changed. */
import { type Dirent, lstatSync, type Stats } from "node:fs";
import type { HeldFolder } from "../held-folder.ts";
import { diskPath, isAscii } from "../paths/byte-path.ts";
import { ifThere } from "./held-file.ts";

/** *Contract:* undefined if there is no such folder. */
export function holdEntry(folder: HeldFolder, name: string): HeldFolder | undefined {
  return ifThere(() => folder.enter(diskPath(name)));
}

/** *Contract:* empty for a folder that is gone or not readable: git skips it, too. */
export function listFolder(folder: HeldFolder): readonly Dirent<Buffer>[] {
  try {
    return folder.listBytes();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EACCES" || code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}

/** For an entry that was just listed; the most frequent call, so it does not rebuild the path each time. */
export function statListed(folder: HeldFolder, name: string): Stats | undefined {
  const { reached } = folder;
  if (typeof reached !== "string" || !isAscii(name)) return folder.lstat(diskPath(name));
  return lstatSync(`${reached}/${name}`, { throwIfNoEntry: false });
}
