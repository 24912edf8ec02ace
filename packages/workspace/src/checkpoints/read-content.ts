/** Reads what a file or link holds, as it was at one moment. */
import { isUtf8 } from "node:buffer";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  type Stats,
} from "node:fs";
import type { SkipReason } from "@lathe/protocol";
import { errorCode } from "../file-failure.ts";
import { diskPath } from "./byte-path.ts";
import type { Leaf } from "./file-tree.ts";
import { leafOf } from "./walk-files.ts";

export interface Content {
  /** Its id is still to be set. */
  readonly leaf: Leaf;
  readonly bytes: Buffer;
}

const attempts = 3;

/** Undefined for what is gone; a reason for what is there and cannot be held. */
export function readContent(path: string, maxBytes: number): Content | SkipReason | undefined {
  try {
    const stats = lstatSync(diskPath(path), { throwIfNoEntry: false });
    if (stats?.isSymbolicLink()) {
      const bytes = readlinkSync(diskPath(path), { encoding: "buffer" });
      // No other way leads through the commit engine than as text.
      return isUtf8(bytes) ? { leaf: leafOf(stats, Date.now()), bytes } : "special";
    }
    return stats && readFile(path, maxBytes);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    // ELOOP, EINVAL: it was a link, or is one now.
    return code === "ENXIO" ? "special" : "unreadable";
  }
}

function readFile(path: string, maxBytes: number): Content | SkipReason {
  // Never through a link put there meanwhile, and never waiting for a writer of a pipe.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const file = openSync(diskPath(path), flags);
  try {
    for (let attempt = 1; ; attempt++) {
      const read = readOnce(file, maxBytes);
      if (typeof read === "string" || read.isSteady || attempt === attempts) return read;
    }
  } finally {
    closeSync(file);
  }
}

interface Read extends Content {
  /** Nobody wrote while it was read. */
  readonly isSteady: boolean;
}

function readOnce(file: number, maxBytes: number): Read | SkipReason {
  const readAt = Date.now();
  const stats = fstatSync(file);
  if (!stats.isFile()) return "special";
  if (stats.size > maxBytes) return "too-large";
  const bytes = Buffer.alloc(stats.size);
  let length = 0;
  for (let count = -1; count !== 0 && length < bytes.length; length += count) {
    count = readSync(file, bytes, length, bytes.length - length, length);
  }
  const after = fstatSync(file);
  const isSteady = isSameTime(stats, after) && after.size === length;
  const leaf = leafOf(stats, readAt);
  return { leaf: isSteady ? leaf : { ...leaf, racy: true }, bytes: bytes.subarray(0, length), isSteady };
}

function isSameTime(a: Stats, b: Stats): boolean {
  return a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs;
}
