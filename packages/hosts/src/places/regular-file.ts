/** Regular file: reading one that others may have put there; a pipe, a device or a folder of its name is none. */
import { type Failure, failure } from "@lathe/protocol";
import { readBounded } from "@lathe/system/read-bounded";

export interface FileStart {
  readonly bytes: Uint8Array;
  /** Whether there is more than was asked for. */
  readonly cut: boolean;
}

/** Its first `limit` bytes; undefined when there is no such file. Never waits. */
export function readRegularFile(path: string, limit: number): FileStart | Failure | undefined {
  try {
    const file = readBounded(path, { maxBytes: limit, links: "follow" });
    return file ? { bytes: file.bytes, cut: file.isCut } : notRegular(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    // Sockets, and devices without a driver.
    if (code === "ENXIO" || code === "ENODEV") return notRegular(path);
    return failure("no-access", `${path} cannot be read (${code})`, { cause });
  }
}

function notRegular(path: string): Failure {
  return failure("not-a-file", `${path} is not a regular file`);
}
