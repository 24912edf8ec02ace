/**
 * Writes files below a held folder: creates missing folders, follows no link, and never leaves a partial
 * file.
 */
import { closeSync, constants, mkdirSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { type HeldFolder, holdFolder } from "../held-folder.ts";

/**
 * Calls `use` with the folder below `root`, an absolute path without links, and closes it. Throws file system
 * errors.
 */
export function inFolder<T>(root: string, parts: readonly string[], use: (folder: HeldFolder) => T): T {
  let folder = holdFolder(root);
  try {
    for (const name of parts) {
      const next = enterOrMake(folder, name);
      folder.close();
      folder = next;
    }
    return use(folder);
  } finally {
    folder.close();
  }
}

function enterOrMake(folder: HeldFolder, name: string): HeldFolder {
  try {
    return folder.enter(name);
  } catch (cause) {
    if (codeOf(cause) !== "ENOENT") throw cause;
  }
  try {
    mkdirSync(folder.at(name));
  } catch (cause) {
    if (codeOf(cause) !== "EEXIST") throw cause;
  }
  return folder.enter(name);
}

/** *Contract:* false if a file of that name exists; throws other file system errors. */
export function writeNew(folder: HeldFolder, name: string, content: string | Uint8Array): boolean {
  let file: number;
  try {
    file = folder.open(name, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o666);
  } catch (cause) {
    if (codeOf(cause) === "EEXIST") return false;
    throw cause;
  }
  try {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    return true;
  } finally {
    closeSync(file);
  }
}

/**
 * Writes to a lock file and renames it, so that the file is always complete. *Contract:* as `writeNew`, for
 * the lock of the name.
 */
export function replaceFile(folder: HeldFolder, name: string, content: string | Uint8Array): boolean {
  const lock = `${name}.lock`;
  if (!writeNew(folder, lock, content)) return false;
  try {
    renameSync(folder.at(lock), folder.at(name));
    return true;
  } catch (cause) {
    unlinkSync(folder.at(lock));
    throw cause;
  }
}

export function codeOf(cause: unknown): string | undefined {
  return (cause as NodeJS.ErrnoException).code;
}
