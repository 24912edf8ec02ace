/** Reads one file as text with its version, or reports what kind of file it is. */
import { closeSync, fstatSync, readFileSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { type Failure, type FileContent, failure, isFailure } from "@lathe/protocol";
import { openEntry, withParent } from "@lathe/system/held-folder";
import { errorCode, fileFailure } from "../file-failure.ts";
import type { Resolved } from "./resolve-path.ts";
import { sniffText } from "./sniff-text.ts";
import { versionOf } from "./state.ts";

/** Bytes of the largest file that is read whole. */
const maxBytes = 10 * 1024 * 1024;

/** The bytes of a regular file, and its state when they were read; undefined if nothing is there. */
export interface Bytes {
  readonly bytes: Buffer;
  readonly stats: Stats;
}

/** Refuses folders, devices and pipes, and files of more than `limit` bytes. */
export function readBytes(
  { path, absolute }: Resolved,
  limit: number = Number.POSITIVE_INFINITY,
): Bytes | undefined | Failure {
  let file: number;
  try {
    file = openReal(absolute);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENXIO") return notRegular(path);
    if (code === "ENOTDIR" || code === "ELOOP") return movedAway(path);
    return code === "ENOENT" ? undefined : fileFailure(path, error);
  }
  try {
    const stats = fstatSync(file);
    if (stats.isDirectory()) return failure("not-a-file", `${path} is a folder: use \`list\`.`);
    if (!stats.isFile()) return notRegular(path);
    if (stats.size > limit) return tooLarge(path, stats.size, limit);
    return { bytes: readFileSync(file), stats };
  } catch (error) {
    return fileFailure(path, error);
  } finally {
    closeSync(file);
  }
}

/** Follows no link: links in the path were resolved before. */
function openReal(absolute: string): number {
  if (dirname(absolute) === absolute) return openEntry(absolute);
  return withParent(absolute, (folder, name) => folder.open(name));
}

/** The failure for a path that was real when it was looked up. */
export function movedAway(path: string): Failure {
  return failure(
    "outside-workspace",
    `${path} leads elsewhere by now: a part of its path was replaced by a link.`,
  );
}

/** Undefined where there is nothing. */
export function readText(resolved: Resolved): FileContent | undefined | Failure {
  const read = readBytes(resolved, maxBytes);
  if (read === undefined || isFailure(read)) return read;
  const { path } = resolved;
  const { bytes } = read;
  const kind = sniffText(bytes);
  if (kind === "utf-8") return { path, text: bytes.toString("utf8"), version: versionOf(bytes) };
  return failure("not-text", `${path} ${notText(bytes, kind === "binary")}`);
}

function notText(bytes: Buffer, isBinary: boolean): string {
  const mark = bytes.subarray(0, 2).toString("hex");
  if (mark === "fffe" || mark === "feff") {
    return "is UTF-16 text, and only UTF-8 can be read and edited: convert it with `iconv` in the shell.";
  }
  const [what, how] = isBinary
    ? ["a binary file", "`file` or `xxd`"]
    : ["not valid UTF-8 (Latin-1 or another encoding)", "`iconv` or `xxd`"];
  return `is ${what} (${bytes.length} bytes): look at it with ${how} in the shell.`;
}

function notRegular(path: string): Failure {
  return failure("not-a-file", `${path} is not a regular file (a device, socket or pipe).`);
}

function tooLarge(path: string, size: number, limit: number): Failure {
  const [has, most] = [size, limit].map((bytes) => Number((bytes / 1024 / 1024).toFixed(1)));
  const part = `sed -n '1,200p' '${path}'`;
  return failure(
    "too-large",
    `${path} has ${has} MB, the limit is ${most}: read a part in the shell, e.g. ${part}, or use grep.`,
  );
}
