/** Reads the start of an untrusted file; refuses a pipe, a device or a folder of that name. */
import { closeSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { type Failure, failure } from "@lathe/protocol";
import { isBelow, readBounded } from "@lathe/system";
import { openInside } from "@lathe/system/open-inside";

export interface FileStart {
  readonly bytes: Uint8Array;
  /** Whether the file is longer than the limit. */
  readonly cut: boolean;
}

/** The first `limit` bytes; undefined if there is no such file. *Contract:* never waits. */
export function readRegularFile(path: string, limit: number): FileStart | Failure | undefined {
  try {
    return readStart(path, path, limit);
  } catch (cause) {
    return unreadable(path, cause);
  }
}

/**
 * A file of the workspace, by its relative path; undefined if there is none, a failure if it leads out of the
 * workspace. Links are resolved before the file is opened; a folder that becomes a link after that is not
 * followed.
 */
export function readRootFile(cwd: string, name: string, limit: number): FileStart | Failure | undefined {
  const path = join(cwd, name);
  try {
    const [root, real] = [realpathSync(cwd), realpathSync(path)];
    if (!isBelow(real, root))
      return failure("outside-workspace", `${path} leads out of the workspace`, { who: "user" });
    const file = openInside(root, relative(root, real));
    try {
      return readStart(file, path, limit);
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    return unreadable(path, cause);
  }
}

/** *Contract:* throws the errors of the file system. `path` is for messages. */
function readStart(source: string | number, path: string, limit: number): FileStart | Failure {
  const file = readBounded(source, { maxBytes: limit, links: "follow" });
  return file ? { bytes: file.bytes, cut: file.isCut } : notRegular(path);
}

/** Undefined if there is no such file. */
function unreadable(path: string, cause: unknown): Failure | undefined {
  const { code = "" } = cause as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") return undefined;
  // A socket, a device without a driver, or anything but a regular file that was opened inside a folder.
  if (["ENXIO", "ENODEV", "EINVAL", "ELOOP"].includes(code)) return notRegular(path);
  return failure("no-access", `${path} cannot be read (${code})`, { cause });
}

function notRegular(path: string): Failure {
  return failure("not-a-file", `${path} is not a regular file`);
}
