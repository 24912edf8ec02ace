/** Regular file: reading one that others may have put there; a pipe, a device or a folder of its name is none. */
import { type Failure, failure } from "@lathe/protocol";
import { readBounded } from "@lathe/system";

export interface FileStart {
  readonly bytes: Uint8Array;
  /** Whether there is more than was asked for. */
  readonly cut: boolean;
}

/** Its first `limit` bytes; undefined when there is no such file. Never waits. */
export function readRegularFile(path: string, limit: number): FileStart | Failure | undefined {
  try {
    return readStart(path, path, limit);
  } catch (cause) {
    return notRead(path, cause);
  }
}

/** *Contract:* throws what the file system throws; `path` is for people. */
export function readStart(source: string | number, path: string, limit: number): FileStart | Failure {
  const file = readBounded(source, { maxBytes: limit, links: "follow" });
  return file ? { bytes: file.bytes, cut: file.isCut } : notRegular(path);
}

/** Undefined where there is no such file. */
export function notRead(path: string, cause: unknown): Failure | undefined {
  const { code = "" } = cause as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") return undefined;
  // Sockets, devices without a driver, and what was opened inside a folder and is no regular file.
  if (["ENXIO", "ENODEV", "EINVAL", "ELOOP"].includes(code)) return notRegular(path);
  return failure("no-access", `${path} cannot be read (${code})`, { cause });
}

function notRegular(path: string): Failure {
  return failure("not-a-file", `${path} is not a regular file`);
}
