/** Takes changed files from one working tree to another; nothing outside of the other is written or removed. */
import { cpSync, existsSync, lstatSync, rmSync } from "node:fs";
import { join } from "node:path";
import { areFolders, makeFolders } from "./real-folders.ts";

/**
 * Byte for byte: what a patch would make of it is not asked. All that changed goes before anything is written: a folder
 * may have become a link, or a link a folder. The names are git's, of one character per byte. Throws what the disk says.
 */
export function carryFiles(top: string, path: string, files: readonly string[]): void {
  const names = files.map(partsOf);
  for (const parts of names) {
    if (areFolders(path, parts.slice(0, -1))) rmSync(join(path, ...parts), { recursive: true, force: true });
  }
  for (const parts of names) {
    if (!isThere(top, parts)) continue;
    makeFolders(path, parts.slice(0, -1));
    const options = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true };
    cpSync(join(top, ...parts), join(path, ...parts), options);
  }
}

/** Without the slash at the end by which git tells a repository of its own: with it a link would be followed. */
function partsOf(file: string): readonly string[] {
  return Buffer.from(file, "latin1").toString().split("/").filter(Boolean);
}

/** What lies behind a link is not there; of a folder that replaced a file, git names the files itself. */
function isThere(top: string, parts: readonly string[]): boolean {
  if (!areFolders(top, parts.slice(0, -1))) return false;
  const from = join(top, ...parts);
  const stats = lstatSync(from, { throwIfNoEntry: false });
  return stats?.isDirectory() ? existsSync(join(from, ".git")) : stats !== undefined;
}
