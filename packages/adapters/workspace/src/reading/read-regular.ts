/**
 * Reads regular files in places that others control: never waits for a pipe, follows links only on request,
 * and is bounded.
 */
import { constants } from "node:buffer";
import type { Stats } from "node:fs";
import { readBounded } from "@lathe/system";
import { errorCode } from "../file-failure.ts";

/** A buffer's maximum, minus one byte that shows whether there is more. */
const maxBuffer = constants.MAX_LENGTH - 1;

export interface RegularFile {
  readonly bytes: Buffer;
  readonly stats: Stats;
}

type Links = "follows links";

/** Undefined if it is missing, not a regular file, larger than that, or unreadable. */
export function readRegular(path: string | Buffer, maxBytes: number, links?: Links): RegularFile | undefined {
  try {
    return readOpened(path, maxBytes, links);
  } catch (error) {
    errorCode(error);
    return undefined;
  }
}

/** Undefined if it is not a regular file, or larger than that; throws the file system's errors. */
export function readOpened(
  path: string | Buffer,
  maxBytes: number = maxBuffer,
  links?: Links,
): RegularFile | undefined {
  const file = readBounded(path, { maxBytes, ...(links && { links: "follow" }) });
  return file?.isCut === false ? file : undefined;
}
