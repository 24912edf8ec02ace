/** Listed entry: the parts of a folder's entry that are on the list of files that run later. */
import { type Dirent, statSync } from "node:fs";
import { join } from "node:path";
import { findRunLaterName, type PathBelow, runLaterBelow } from "@lathe/protocol";
import { isBelow, kindOf, realPath } from "@lathe/system/paths";

export interface ListedEntry {
  /** Files, and folders with everything below them. */
  readonly guarded: readonly PathBelow[];
  /** The entry is guarded as a whole; there is no need to search in it. */
  readonly isWhole: boolean;
}

const none: ListedEntry = { guarded: [], isWhole: false };

interface EntryContext {
  readonly workspace: string;
  /** A link that a command made: its target stays as it is. */
  readonly isNew: boolean;
}

export function listedEntry(folder: string, entry: Dirent, surroundings: EntryContext): ListedEntry {
  const path = join(folder, entry.name);
  const found = findRunLaterName(folder, entry.name);
  const below = found ? [{ path: "", isFolder: found.isFolder }] : runLaterBelow(entry.name);
  if (below.length === 0) return none;
  if (entry.isSymbolicLink()) {
    if (!found && leadsToFile(path)) return none;
    return { guarded: [{ path, isFolder: false }, ...throughLink(path, below, surroundings)], isWhole: true };
  }
  const isWhole = found !== undefined && (found.isFolder || !entry.isDirectory());
  const guarded = below.map((one) => ({ ...one, path: join(path, one.path) }));
  return { guarded: found ? guarded : guarded.filter((one) => kindOf(one.path)), isWhole };
}

/** The target of the user's own link is guarded as if it were in the link's place. */
function throughLink(
  path: string,
  below: readonly PathBelow[],
  { workspace, isNew }: EntryContext,
): readonly PathBelow[] {
  const real = isNew ? undefined : realPath(path);
  if (real === undefined || !isInside(real, workspace)) return [];
  return below.map((one) => ({ ...one, path: join(real, one.path) }));
}

/** Excludes the workspace itself, which cannot be guarded as a whole. */
function isInside(path: string, workspace: string): boolean {
  return path !== workspace && isBelow(path, workspace);
}

function leadsToFile(link: string): boolean {
  try {
    return statSync(link, { throwIfNoEntry: false })?.isDirectory() === false;
  } catch {
    return false;
  }
}
