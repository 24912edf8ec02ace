/** Reads regular files whose place others control: never waiting for a pipe, only through links where told so, never without end. */
import { constants } from "node:buffer";
import type { Stats } from "node:fs";
import { readBounded } from "@lathe/system";
import { errorCode } from "../file-failure.ts";

/** What a buffer can hold, but for the byte that tells of more. */
const maxBuffer = constants.MAX_LENGTH - 1;

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
  maxBytes: number = maxBuffer,
  links?: Links,
): RegularFile | undefined {
  const file = readBounded(path, { maxBytes, ...(links && { links: "follow" }) });
  return file?.isCut === false ? file : undefined;
}
