/**
 * Reads files whose paths others control: only regular files, so that it waits for no pipe and reads no
 * device, and no more bytes than requested, whatever `stat` says about the size.
 */
import { Buffer } from "node:buffer";
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  type Stats,
  statfsSync,
  statSync,
} from "node:fs";

/** A path, or an open descriptor, which stays open. */
export type BoundedSource = string | Buffer | number;

export interface BoundedOptions {
  readonly maxBytes: number;
  /** Whether the last component of a path may be a symbolic link; absent: it may not. */
  readonly links?: "follow";
}

export interface BoundedFile {
  /** At most the first `maxBytes`. */
  readonly bytes: Buffer;
  /** Stats of the open file. */
  readonly stats: Stats;
  /** Whether the file is longer than these bytes. */
  readonly isCut: boolean;
}

const openFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const noFollow = constants.O_NOFOLLOW ?? 0;

/** *Contract:* undefined for anything but a regular file; throws file system errors. Never waits. */
export function readBounded(source: BoundedSource, options: BoundedOptions): BoundedFile | undefined {
  if (typeof source === "number") return readOpen(source, options.maxBytes);
  // Opening a device may already have an effect; a link is refused below, with the system's own error.
  if (options.links && !statSync(source).isFile()) return undefined;
  const file = openSync(source, options.links ? openFlags : openFlags | noFollow);
  try {
    return readOpen(file, options.maxBytes);
  } finally {
    closeSync(file);
  }
}

/**
 * The whole text of a small file, links followed. *Contract:* undefined if it is missing, no regular file,
 * too large or unreadable; never throws.
 */
export function readSmallText(
  source: BoundedSource,
  maxBytes: number,
  encoding: BufferEncoding = "utf8",
): string | undefined {
  try {
    const file = readBounded(source, { maxBytes, links: "follow" });
    return file === undefined || file.isCut ? undefined : file.bytes.toString(encoding);
  } catch {
    return undefined;
  }
}

function readOpen(file: number, maxBytes: number): BoundedFile | undefined {
  const stats = fstatSync(file);
  if (!stats.isFile() || isMadeByKernel(file, stats)) return undefined;
  let bytes = Buffer.allocUnsafe(Math.min(stats.size, maxBytes) + 1);
  let length = 0;
  for (;;) {
    const count = readSync(file, bytes, length, bytes.length - length, length);
    length += count;
    if (count === 0 || length > maxBytes) break;
    if (length === bytes.length) bytes = grown(bytes, maxBytes);
  }
  return { bytes: bytes.subarray(0, Math.min(length, maxBytes)), stats, isCut: length > maxBytes };
}

/** It grew while it was read. */
function grown(bytes: Buffer<ArrayBuffer>, maxBytes: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafe(Math.min(bytes.length * 2, maxBytes + 1));
  bytes.copy(larger);
  return larger;
}

/** `f_type` of `proc` and `sysfs`, from `linux/magic.h`. */
const kernelSystems: ReadonlySet<number> = new Set([0x9fa0, 0x62656572]);

/** Files below `/proc` and `/sys` claim to be regular; they take no space on a disk. */
function isMadeByKernel(file: number, { blocks }: Stats): boolean {
  if (blocks !== 0 || process.platform !== "linux") return false;
  try {
    return kernelSystems.has(statfsSync(`/proc/self/fd/${file}`).type);
  } catch {
    // Without `/proc` no file is below it either.
    return false;
  }
}
