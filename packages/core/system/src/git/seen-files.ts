/**
 * Whether a repository has seen the files of a folder: its index records each file's inode and the times of
 * its last change, which cannot be set freely. So a repository whose settings name no working tree is
 * recognized as the folder's own, whatever process wrote the `.git` that leads to it.
 */
import type { Stats } from "node:fs";
import { dirname } from "node:path";
import { holdBelow, withFolder } from "../held-folder.ts";
import { diskPath } from "../paths/byte-path.ts";
import { type EntryStats, entryStats, entryType, type IndexEntry } from "./index-entries.ts";
import { readIndex } from "./read-index.ts";

/** Maximum files to compare: one unchanged file is enough. */
const maxFiles = 1000;
/** Times are recorded in nanoseconds, and read slightly less exactly. */
const timeStepMs = 0.001;
const word = 2 ** 32;

export interface SeenFrom {
  /** Real paths. */
  readonly gitFolder: string;
  readonly top: string;
  readonly idBytes: number;
}

/** *Contract:* never throws; false if unknown. A copy of a file is another file. */
export function hasSeenFiles({ gitFolder, top, idBytes }: SeenFrom): boolean {
  try {
    const { entries } = withFolder(gitFolder, (folder) => readIndex(folder, idBytes));
    const files = entries.filter(({ mode }) => (mode & entryType.mask) === entryType.file);
    return files.slice(0, maxFiles).some((entry) => isSeen(entry, top));
  } catch {
    return false;
  }
}

/** Follows no link: it could lead to the files of another repository. */
function isSeen(entry: IndexEntry, top: string): boolean {
  try {
    return withFolder(top, (root) => {
      const folder = holdBelow(root, diskPath(dirname(entry.path)));
      try {
        const stats = folder.lstat(diskPath(entry.path.slice(entry.path.lastIndexOf("/") + 1)));
        return (
          stats?.isFile() === true && stats.uid === process.getuid?.() && isSame(entryStats(entry), stats)
        );
      } finally {
        folder.close();
      }
    });
  } catch {
    // It is gone, or a parent folder was replaced.
    return false;
  }
}

function isSame(known: EntryStats, stats: Stats): boolean {
  return (
    known.inode !== 0 &&
    known.inode === stats.ino % word &&
    Math.abs(known.ctimeMs - stats.ctimeMs) < timeStepMs &&
    Math.abs(known.mtimeMs - stats.mtimeMs) < timeStepMs
  );
}
