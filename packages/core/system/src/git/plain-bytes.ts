/** Reads a regular file of bounded size; never opens a link, a pipe or a device for content. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/**
 * *Contract:* never throws; undefined for anything but a regular file, a file longer than `most`, or an
 * unreadable one.
 */
export function plainBytes(path: string, most: number): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const kind = fstatSync(file);
    if (!kind.isFile() || kind.size > most) return undefined;
    return readUpTo(file, kind.size);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** A file that grows meanwhile is read up to its old length. */
function readUpTo(file: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  while (at < size) {
    const count = readSync(file, bytes, at, size - at, at);
    if (count === 0) break;
    at += count;
  }
  return bytes.subarray(0, at);
}

/** *Contract:* as `plainBytes`, decoded as UTF-8. */
export function plainText(path: string, most: number): string | undefined {
  return plainBytes(path, most)?.toString();
}
