/** Reads regular files whose place others control: never waiting for a pipe, only through links where told so, never without end. */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { errorCode } from "../file-failure.ts";

// Opening a pipe to read would wait for a writer for ever.
const openFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const noLink = constants.O_NOFOLLOW ?? 0;

export interface RegularFile {
  readonly bytes: Buffer;
  readonly stats: Stats;
}

type Links = "follows links";

/** Undefined for what is not there, is no regular file, is larger than that, or may not be read. */
export function readRegular(path: string | Buffer, maxBytes: number, links?: Links): RegularFile | undefined {
  try {
    return readOpened(path, maxBytes, links);
  } catch (error) {
    errorCode(error);
    return undefined;
  }
}

/** Undefined for what is no regular file, or larger than that; throws what the file system throws. */
export function readOpened(
  path: string | Buffer,
  maxBytes: number = Number.POSITIVE_INFINITY,
  links?: Links,
): RegularFile | undefined {
  const file = openSync(path, links ? openFlags : openFlags | noLink);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > maxBytes) return undefined;
    const bytes = Buffer.alloc(stats.size);
    let length = 0;
    for (let count = -1; count !== 0 && length < bytes.length; length += count) {
      count = readSync(file, bytes, length, bytes.length - length, length);
    }
    return { bytes: bytes.subarray(0, length), stats };
  } finally {
    closeSync(file);
  }
}
