/** Reads git's index file: what git knows of files that have not changed since, with no git started. */
import { statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readBounded, readSmallText } from "@lathe/system/read-bounded";

export interface KnownToGit {
  readonly id: string;
  readonly size: number;
  /** Seconds and nanoseconds of its last change when git looked. */
  readonly mtime: readonly [number, number];
}

export interface Repository {
  /** The worktree's topmost folder. */
  readonly top: string;
  /** The worktree's own part of the repository. */
  readonly folder: string;
  /** What all worktrees of the repository have together. */
  readonly common: string;
}

/** A file that says in one line where another folder is. */
const mostPointer = 64 * 1024;
const mostIndex = 512 * 1024 * 1024;

/** The repository that a folder is in. */
export function repositoryOf(folder: string): Repository | undefined {
  for (let top = folder; ; top = dirname(top)) {
    const found = gitFolder(top);
    if (found) return { top, folder: found, common: commonOf(found) };
    if (dirname(top) === top) return undefined;
  }
}

function gitFolder(top: string): string | undefined {
  const path = join(top, ".git");
  try {
    if (statSync(path).isDirectory()) return path;
    const target = /^gitdir: (.+)$/m.exec(readSmallText(path, mostPointer) ?? "")?.[1];
    return target === undefined ? undefined : resolve(top, target.trim());
  } catch {
    // None here, or one that cannot be read.
    return undefined;
  }
}

/** What the worktrees of a repository have together. */
export function commonOf(folder: string): string {
  // A repository with one worktree has none.
  return resolve(folder, readSmallText(join(folder, "commondir"), mostPointer)?.trim() ?? "");
}

const entryBytes = 62;
const extended = 0x4000;

/**
 * Files by their path from the top; empty when there is no index, or one of a kind that is not read (sha256, split):
 * files are then known by their bytes. The format is gitformat-index(5), versions 2 to 4.
 */
export function readGitIndex(folder: string): ReadonlyMap<string, KnownToGit> {
  const found = new Map<string, KnownToGit>();
  try {
    const path = join(folder, "index");
    const file = readBounded(path, { maxBytes: mostIndex, links: "follow" });
    if (file?.isCut === false && file.bytes.toString("latin1", 0, 4) === "DIRC") {
      readEntries(file.bytes, file.stats.mtimeMs, found);
    }
  } catch {
    found.clear();
  }
  return found;
}

function readEntries(bytes: Buffer, written: number, found: Map<string, KnownToGit>): void {
  const version = bytes.readUInt32BE(4);
  const count = bytes.readUInt32BE(8);
  let at = 12;
  let path = "";
  for (let entry = 0; entry < count; entry++) {
    const flags = bytes.readUInt16BE(at + 60);
    let name = at + entryBytes + (flags & extended ? 2 : 0);
    let kept = 0;
    if (version === 4) {
      const { value, next } = readOffset(bytes, name);
      kept = Math.max(0, Buffer.byteLength(path) - value);
      name = next;
    }
    const end = bytes.indexOf(0, name);
    if (end < 0) throw new RangeError("the index ends in a name");
    path = Buffer.from(path).toString("utf8", 0, kept) + bytes.toString("utf8", name, end);
    const seconds = bytes.readUInt32BE(at + 8);
    const nanoseconds = bytes.readUInt32BE(at + 12);
    // What changed when the index was written may have changed once more in the same moment.
    const isSafe = seconds * 1000 + nanoseconds / 1e6 < written - 20;
    if (isSafe && ((bytes.readUInt32BE(at + 24) >> 12) & 15) === 8 && (flags & 0x3000) === 0) {
      const id = bytes.toString("hex", at + 40, at + 60);
      found.set(path, { id, size: bytes.readUInt32BE(at + 36), mtime: [seconds, nanoseconds] });
    }
    at = version === 4 ? end + 1 : at + ((end - at + 8) & ~7);
  }
}

/** Git's variable-width number of a pack's offset. */
function readOffset(bytes: Buffer, from: number): { readonly value: number; readonly next: number } {
  let at = from;
  let byte = bytes[at++] as number;
  let value = byte & 127;
  while (byte & 128) {
    byte = bytes[at++] as number;
    value = (value + 1) * 128 + (byte & 127);
  }
  return { value, next: at };
}
