/** File text: the content of a regular file and its digest, both from the same opened file. */
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";

export interface FileText {
  /** Undefined for a file with a NUL byte: no program reads that as a script. */
  readonly text: string | undefined;
  /** SHA-256 of the bytes, in hexadecimal. */
  readonly digest: string;
}

/**
 * `O_PATH` of `fcntl.h`: finds a file without opening its content, so that a pipe or a device has no effect.
 */
const pathOnly = 0o10000000;
const safely = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/**
 * Follows links, as a program would that reads the same path. *Contract:* never throws and never waits;
 * undefined for anything but a regular file of at most `maxBytes`. Bounded by the bytes that are read,
 * whatever size the file claims to have.
 */
export function readFileText(path: string, maxBytes: number): FileText | undefined {
  try {
    const bytes = readRegular(path, maxBytes);
    if (bytes === undefined) return undefined;
    const text = bytes.includes(0) ? undefined : bytes.toString("utf8");
    return { text, digest: createHash("sha256").update(bytes).digest("hex") };
  } catch {
    return undefined;
  }
}

function readRegular(path: string, maxBytes: number): Buffer | undefined {
  if (process.platform !== "linux") return statSync(path).isFile() ? readOpened(path, maxBytes) : undefined;
  const found = openSync(path, pathOnly);
  try {
    return fstatSync(found).isFile() ? readOpened(`/proc/self/fd/${found}`, maxBytes) : undefined;
  } finally {
    closeSync(found);
  }
}

function readOpened(path: string, maxBytes: number): Buffer | undefined {
  const file = openSync(path, safely);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > maxBytes) return undefined;
    // One extra byte reveals a file longer than its stated size: it grows, or the kernel generates it as in
    // /proc.
    const bytes = Buffer.allocUnsafe(stats.size + 1);
    let size = 0;
    for (let read = -1; read !== 0 && size < bytes.length; size += read) {
      read = readSync(file, bytes, size, bytes.length - size, null);
    }
    return size > stats.size ? undefined : bytes.subarray(0, size);
  } finally {
    closeSync(file);
  }
}
