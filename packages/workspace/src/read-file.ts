/** Reads one file as text with its version, and says what else it is when it is not text. */
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { type Failure, type FileContent, failure, isFailure } from "@lathe/protocol";
import { errorCode, fileFailure } from "./file-failure.ts";
import type { Resolved } from "./resolve-path.ts";

/** Bytes of the largest file that is read whole. */
const maxBytes = 10 * 1024 * 1024;
/** A NUL byte this early means binary, as git sees it. */
const sniffed = 8_000;

/** The bytes of a regular file, and what it was when they were read; undefined where there is nothing. */
export interface Bytes {
  readonly bytes: Buffer;
  readonly stats: Stats;
}

export function versionOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Refuses folders, devices and pipes, and files of more than `limit` bytes. */
export function readBytes(
  { path, absolute }: Resolved,
  limit: number = Number.POSITIVE_INFINITY,
): Bytes | undefined | Failure {
  let file: number;
  try {
    // Opening a pipe to read would wait for a writer for ever.
    file = openSync(absolute, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENXIO") return notRegular(path);
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : fileFailure(path, error);
  }
  try {
    const stats = fstatSync(file);
    if (stats.isDirectory()) return failure("not-a-file", `${path} is a folder: use \`list\`.`);
    if (!stats.isFile()) return notRegular(path);
    if (stats.size > limit) return tooLarge(path, stats.size);
    return { bytes: readFileSync(file), stats };
  } catch (error) {
    return fileFailure(path, error);
  } finally {
    closeSync(file);
  }
}

/** Undefined where there is nothing. */
export function readText(resolved: Resolved): FileContent | undefined | Failure {
  const read = readBytes(resolved, maxBytes);
  if (read === undefined || isFailure(read)) return read;
  const { path } = resolved;
  const { bytes } = read;
  const found = bytes.subarray(0, sniffed).includes(0) ? "binary" : isUtf8(bytes) ? "text" : "other";
  if (found === "text") return { path, text: bytes.toString("utf8"), version: versionOf(bytes) };
  const what = found === "binary" ? "a binary file" : "not valid UTF-8";
  const how = found === "binary" ? "`file` or `xxd`" : "`iconv` or `xxd`";
  return failure(
    "not-text",
    `${path} is ${what} (${bytes.length} bytes): look at it with ${how} in the shell.`,
  );
}

function notRegular(path: string): Failure {
  return failure("not-a-file", `${path} is not a regular file (a device, socket or pipe).`);
}

function tooLarge(path: string, size: number): Failure {
  const part = `sed -n '1,200p' '${path}'`;
  return failure(
    "too-large",
    `${path} has ${(size / 1024 / 1024).toFixed(1)} MB, the limit is 10: read a part in the shell, e.g. ${part}, or use grep.`,
  );
}
