/** Copies changed files from one working tree to another, and writes or removes nothing outside of that. */
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
  /** Paths as git names them, of one character per byte. */
  readonly files: readonly string[];
  /** Absolute paths that are left out, also where a repository around them is copied. */
  readonly kept: readonly string[];
}

/**
 * Copies byte for byte, since a patch would depend on git's settings. Everything that changed is removed before anything
 * is written: a folder may have become a link, or a link a folder. Throws file system errors.
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

/** Without the slash that git puts behind a nested repository: with it a link would be followed. */
function partsOf(file: string): readonly string[] {
  return file.split("/").filter(Boolean);
}

/**
 * Calls `copy` with the held folder of the entry, and closes the folder afterwards. Files behind a link count as missing,
 * also where a command makes the link meanwhile. Git names the files of a folder that replaced a file by themselves.
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

/** Names are bytes, which no function of Node copies. Pipes and sockets belong to other programs and are left out. */
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
