/** Takes changed files from one working tree to another; nothing outside of the other is written or removed. */
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  mkdirSync,
  readlinkSync,
  rmSync,
  type Stats,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { type HeldFolder, holdFolder, reachedFile } from "@lathe/system/held-folder";
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
    fromHeld(top, parts, (from) => {
      makeFolders(path, parts.slice(0, -1));
      copyEntry(from, pathBelow(path, parts), kept);
    });
  }
}

/** Without the slash at the end by which git tells a repository of its own: with it a link would be followed. */
function partsOf(file: string): readonly string[] {
  return file.split("/").filter(Boolean);
}

/**
 * Calls `copy` with the held folder of what is there, and closes it. What is behind a link is not there, also where a
 * command puts the link there meanwhile; of a folder that replaced a file, git names the files itself.
 */
function fromHeld(top: string, parts: readonly string[], copy: (from: Source) => void): void {
  const name = Buffer.from(parts.at(-1) ?? "", "latin1");
  let folder: HeldFolder;
  try {
    folder = holdFolder(pathBelow(top, parts.slice(0, -1)));
  } catch (cause) {
    if (isGone(cause)) return;
    throw cause;
  }
  try {
    const stats = folder.lstat(name);
    if (stats?.isDirectory() && !isRepository(folder, name)) return;
    if (stats) copy({ folder, name, path: pathBelow(top, parts).toString("latin1") });
  } finally {
    folder.close();
  }
}

function isGone(cause: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ELOOP"].includes((cause as NodeJS.ErrnoException).code ?? "");
}

function isRepository(folder: HeldFolder, name: Buffer): boolean {
  const inner = folder.enter(name);
  try {
    return inner.lstat(".git") !== undefined;
  } finally {
    inner.close();
  }
}

interface Source {
  readonly folder: HeldFolder;
  readonly name: Buffer;
  /** Absolute, of one character per byte. */
  readonly path: string;
}

/** In bytes, as no way of Node to copy a folder does it. A pipe or a socket is another program's: it is left. */
function copyEntry({ folder, name, path }: Source, to: Buffer, kept: readonly string[]): void {
  if (isKeptIn(kept, path)) return;
  const stats = folder.lstat(name);
  if (stats?.isSymbolicLink()) symlinkSync(readlinkSync(folder.at(name), { encoding: "buffer" }), to);
  if (stats?.isFile()) copyFile(folder, name, to);
  if (stats?.isDirectory()) copyFolder({ folder, name, path }, to, kept);
}

function copyFile(folder: HeldFolder, name: Buffer, to: Buffer): void {
  const file = folder.open(name);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return;
    copyFileSync(reachedFile(file, folder.at(name)), to, constants.COPYFILE_FICLONE);
    chmodSync(to, stats.mode & 0o7777);
    keepTimes(to, stats);
  } finally {
    closeSync(file);
  }
}

function copyFolder({ folder, name, path }: Source, to: Buffer, kept: readonly string[]): void {
  const inner = folder.enter(name);
  try {
    mkdirSync(to);
    for (const { name: one } of inner.listBytes()) {
      const below = { folder: inner, name: one, path: `${path}/${one.toString("latin1")}` };
      copyEntry(below, Buffer.concat([to, slash, one]), kept);
    }
    const stats = inner.stats();
    chmodSync(to, stats.mode & 0o7777);
    keepTimes(to, stats);
  } finally {
    inner.close();
  }
}

const slash: Buffer = Buffer.from("/");

function keepTimes(path: Buffer, { atime, mtime }: Stats): void {
  utimesSync(path, atime, mtime);
}
