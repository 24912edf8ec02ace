/**
 * Reads a regular file below a held folder: follows no link, waits for no pipe, and reads no more bytes than
 * allowed.
 */
import { closeSync, fstatSync, readSync, type Stats } from "node:fs";
import { type HeldFolder, holdBelow } from "../held-folder.ts";

export interface HeldFile {
  readonly bytes: Buffer;
  readonly stats: Stats;
}

/** The path is no regular file, or the file is larger than allowed. */
export class OddFileError extends Error {}

/**
 * *Contract:* undefined if nothing exists there; throws `OddFileError` for anything but a regular file, such
 * as a link, and for more than `maxBytes`; otherwise throws file system errors.
 */
export function readHeldFile(root: HeldFolder, path: string, maxBytes: number): HeldFile | undefined {
  const at = path.lastIndexOf("/");
  if (at < 0) return readEntry(root, path, maxBytes);
  const folder = heldBelow(root, path.slice(0, at));
  if (!folder) return undefined;
  try {
    return readEntry(folder, path.slice(at + 1), maxBytes);
  } finally {
    folder.close();
  }
}

/** *Contract:* undefined if there is no such folder. */
export function heldBelow(root: HeldFolder, path: string): HeldFolder | undefined {
  return ifThere(() => holdBelow(root, path));
}

function readEntry(folder: HeldFolder, name: string, maxBytes: number): HeldFile | undefined {
  const file = ifThere(() => folder.open(name));
  if (file === undefined) return undefined;
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new OddFileError(`${name} is no regular file`);
    return { bytes: readOpened(file, { name, size: stats.size, maxBytes }), stats };
  } finally {
    closeSync(file);
  }
}

/** *Contract:* undefined if nothing exists there; throws `OddFileError` for a link. */
export function ifThere<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === "ELOOP") throw new OddFileError("a link is not followed", { cause: error });
    throw error;
  }
}

interface Wanted {
  readonly name: string;
  readonly size: number;
  readonly maxBytes: number;
}

/** Reads to the end, whatever size the file claims to have. */
function readOpened(file: number, { name, size, maxBytes }: Wanted): Buffer {
  let bytes = Buffer.allocUnsafe(Math.min(size, maxBytes) + 1);
  let length = 0;
  for (;;) {
    const count = readSync(file, bytes, length, bytes.length - length, length);
    if (count === 0) return bytes.subarray(0, length);
    length += count;
    if (length > maxBytes) throw new OddFileError(`${name} has more than ${maxBytes} bytes`);
    if (length === bytes.length) bytes = Buffer.concat([bytes, Buffer.allocUnsafe(length)]);
  }
}
