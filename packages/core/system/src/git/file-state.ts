/**
 * Whether a file matches the index: by the stats that git recorded, or by its bytes if those do not decide.
 */
import { createHash, type Hash } from "node:crypto";
import { closeSync, constants, fstatSync, readlinkSync, readSync, type Stats } from "node:fs";
import type { HeldFolder } from "../held-folder.ts";
import { diskPath } from "../paths/byte-path.ts";
import { ifThere } from "./held-file.ts";
import { entryId, entryStats, entryType, type IndexEntry } from "./index-entries.ts";
import type { RepositorySettings } from "./repository-settings.ts";
import type { WalkBudget } from "./walk-budget.ts";

export interface FileStateOptions {
  readonly settings: RepositorySettings;
  /** When the index was written. */
  readonly writtenMs: number;
  readonly budget: WalkBudget;
}

/** `bytes`: only the content can decide. */
export type FileState = "same" | "changed" | "bytes";

/** Files that changed when the index was written may have changed again at the same moment. */
const racyMs = 20;
/** Git stores times in nanoseconds; a JavaScript number of milliseconds is less exact. */
const timeStepMs = 0.001;
const word = 2 ** 32;

/** *Contract:* `changed` if the file is missing. */
export function stateByStats(
  entry: IndexEntry,
  stats: Stats | undefined,
  { settings, writtenMs }: Pick<FileStateOptions, "settings" | "writtenMs">,
): FileState {
  if (!stats || !hasMode(entry, stats, settings)) return "changed";
  const known = entryStats(entry);
  // Git writes no size for a file whose state was uncertain.
  if (known.size !== stats.size % word && known.size !== 0) return "changed";
  const isSeen =
    known.size === stats.size % word &&
    Math.abs(known.mtimeMs - stats.mtimeMs) < timeStepMs &&
    Math.abs(known.ctimeMs - stats.ctimeMs) < timeStepMs &&
    known.inode === stats.ino % word &&
    known.owner === stats.uid &&
    known.group === stats.gid;
  return isSeen && known.mtimeMs < writtenMs - racyMs ? "same" : "bytes";
}

function hasMode({ mode }: IndexEntry, stats: Stats, { hasFileMode, hasLinks }: RepositorySettings): boolean {
  const isLink = (mode & entryType.mask) === entryType.link;
  if (isLink && stats.isSymbolicLink()) return true;
  if (isLink) return !hasLinks && stats.isFile();
  return stats.isFile() && (!hasFileMode || (mode & 0o100) === (stats.mode & 0o100));
}

const chunkBytes = 256 * 1024;

/** *Contract:* ignores filters and line endings: a file that differs only by these counts as changed. */
export async function hasBytesOf(
  entry: IndexEntry,
  folder: HeldFolder,
  { name, options }: { readonly name: string; readonly options: FileStateOptions },
): Promise<boolean> {
  const { idBytes } = options.settings;
  const id = await contentId(folder, name, { idBytes, budget: options.budget });
  return id === entryId(entry, idBytes);
}

interface Hashing {
  readonly idBytes: number;
  readonly budget: WalkBudget;
}

async function contentId(folder: HeldFolder, name: string, hashing: Hashing): Promise<string | undefined> {
  const stats = folder.lstat(diskPath(name));
  if (stats?.isSymbolicLink()) {
    const target = readlinkSync(folder.at(diskPath(name)), "buffer");
    return blobHash(target.length, hashing).update(target).digest("hex");
  }
  const file = ifThere(() => folder.open(diskPath(name), constants.O_RDONLY));
  if (file === undefined) return undefined;
  try {
    const opened = fstatSync(file);
    return opened.isFile() ? await hashOpened(file, opened.size, hashing) : undefined;
  } finally {
    closeSync(file);
  }
}

async function hashOpened(file: number, size: number, hashing: Hashing): Promise<string | undefined> {
  const hash = blobHash(size, hashing);
  const bytes = Buffer.allocUnsafe(Math.min(size + 1, chunkBytes));
  for (let at = 0; ; ) {
    const count = readSync(file, bytes, 0, bytes.length, at);
    if (count === 0) return at === size ? hash.digest("hex") : undefined;
    hash.update(bytes.subarray(0, count));
    at += count;
    if (at > size) return undefined;
    if (size > chunkBytes) await hashing.budget.rest();
  }
}

function blobHash(size: number, { idBytes }: Hashing): Hash {
  return createHash(idBytes === 32 ? "sha256" : "sha1").update(`blob ${size}\0`);
}
