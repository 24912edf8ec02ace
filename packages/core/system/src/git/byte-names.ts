/** Names and paths of any bytes as strings with one character per byte, so that none is lost or changed. */
import { type Dirent, lstatSync, type Stats } from "node:fs";
import type { EntryName, HeldFolder } from "../held-folder.ts";
import { ifThere } from "./held-file.ts";

/** As a held folder takes it. */
export function entryName(name: string): EntryName {
  return isAscii(name) ? name : Buffer.from(name, "latin1");
}

/** For people; a name that is not UTF-8 is shown with replacement characters. */
export function shownPath(path: string): string {
  return isAscii(path) ? path : Buffer.from(path, "latin1").toString("utf8");
}

export function bytePath(path: string): string {
  return isAscii(path) ? path : Buffer.from(path, "utf8").toString("latin1");
}

/** *Contract:* undefined where no folder is there. */
export function holdEntry(folder: HeldFolder, name: string): HeldFolder | undefined {
  return ifThere(() => folder.enter(entryName(name)));
}

/** *Contract:* empty for a folder that is gone, or may not be read: git passes over it, too. */
export function listFolder(folder: HeldFolder): readonly Dirent<Buffer>[] {
  try {
    return folder.listBytes();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EACCES" || code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}

/** Of an entry that was just listed: the most frequent question, asked without building its path anew each time. */
export function statListed(folder: HeldFolder, name: string): Stats | undefined {
  const { reached } = folder;
  if (typeof reached !== "string" || !isAscii(name)) return folder.lstat(entryName(name));
  return lstatSync(`${reached}/${name}`, { throwIfNoEntry: false });
}

function isAscii(text: string): boolean {
  return !/[\u0080-\uffff]/.test(text);
}
