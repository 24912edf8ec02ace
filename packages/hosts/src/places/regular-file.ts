/** Regular file: reading one that others may have put there; a pipe, a device or a folder of its name is none. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { type Failure, failure } from "@lathe/protocol";

export interface FileStart {
  readonly bytes: Uint8Array;
  /** Whether there is more than was asked for. */
  readonly cut: boolean;
}

// To open a pipe without a writer would wait for ever; Windows has neither.
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Its first `limit` bytes; undefined when there is no such file. Never waits. */
export function readRegularFile(path: string, limit: number): FileStart | Failure | undefined {
  try {
    const file = openSync(path, flags);
    try {
      if (!fstatSync(file).isFile()) return failure("not-a-file", `${path} is not a regular file`);
      const bytes = Buffer.alloc(limit + 1);
      let length = 0;
      for (let read = -1; read !== 0 && length <= limit; length += read) {
        read = readSync(file, bytes, length, bytes.length - length, length);
      }
      return { bytes: bytes.subarray(0, Math.min(length, limit)), cut: length > limit };
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    // Sockets, and devices without a driver.
    if (code === "ENXIO" || code === "ENODEV") return failure("not-a-file", `${path} is not a regular file`);
    return failure("no-access", `${path} cannot be read (${code})`, { cause });
  }
}
