/** Takes changed files from one working tree to another; nothing outside of the other is written or removed. */
import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  type Stats,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { isKeptIn } from "./kept-places.ts";
import { areFolders, makeFolders, pathBelow } from "./real-folders.ts";

export interface Carried {
  readonly top: string;
  readonly path: string;
  /** Git's names, of one character per byte. */
  readonly files: readonly string[];
  /** Absolute, as git's names: what lies there is not taken along with a repository around it. */
  readonly kept: readonly string[];
}

/**
 * Byte for byte: what a patch would make of it is not asked. All that changed goes before anything is written: a folder
 * may have become a link, or a link a folder. Throws what the disk says.
 */
export function carryFiles({ top, path, files, kept }: Carried): void {
  const names = files.map(partsOf);
  for (const parts of names) {
    if (!areFolders(path, parts.slice(0, -1))) continue;
    rmSync(pathBelow(path, parts), { recursive: true, force: true });
  }
  for (const parts of names) {
    if (!isThere(top, parts)) continue;
    makeFolders(path, parts.slice(0, -1));
    copyEntry(pathBelow(top, parts), pathBelow(path, parts), kept);
  }
}

/** Without the slash at the end by which git tells a repository of its own: with it a link would be followed. */
function partsOf(file: string): readonly string[] {
  return file.split("/").filter(Boolean);
}

/** What lies behind a link is not there; of a folder that replaced a file, git names the files itself. */
function isThere(top: string, parts: readonly string[]): boolean {
  if (!areFolders(top, parts.slice(0, -1))) return false;
  const stats = lstatSync(pathBelow(top, parts), { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return stats !== undefined;
  return lstatSync(pathBelow(top, [...parts, ".git"]), { throwIfNoEntry: false }) !== undefined;
}

/** In bytes, as no way of Node to copy a folder does it. A pipe or a socket is another program's: it is left. */
function copyEntry(from: Buffer, to: Buffer, kept: readonly string[]): void {
  if (isKeptIn(kept, from.toString("latin1"))) return;
  const stats = lstatSync(from);
  if (stats.isSymbolicLink()) symlinkSync(readlinkSync(from, { encoding: "buffer" }), to);
  if (stats.isFile()) {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
    keepTimes(to, stats);
  }
  if (!stats.isDirectory()) return;
  mkdirSync(to);
  for (const name of readdirSync(from, { encoding: "buffer" })) {
    copyEntry(Buffer.concat([from, slash, name]), Buffer.concat([to, slash, name]), kept);
  }
  chmodSync(to, stats.mode & 0o7777);
  keepTimes(to, stats);
}

const slash: Buffer = Buffer.from("/");

function keepTimes(path: Buffer, { atime, mtime }: Stats): void {
  utimesSync(path, atime, mtime);
}
