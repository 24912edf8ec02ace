/** Walks all folders of a workspace; rereads only those in which an entry was added, removed or renamed. */
import { type Dirent, readdirSync } from "node:fs";
import { kindOf } from "@lathe/system/paths";

/** A folder that was read, with the relevant names in it. */
export interface FolderSeen {
  readonly path: string;
  /** Undefined if the folder cannot be read. */
  readonly entries: readonly Dirent[] | undefined;
}

interface Known {
  /** Zero if a change may have been missed. */
  readonly ctimeMs: number;
  readonly ino: number;
  /** Whole paths; those below `node_modules` are in `later`. */
  readonly below: readonly string[];
  readonly later: readonly string[];
  walk: number;
}

export interface WalkCache {
  readonly folders: Map<string, Known>;
  /** Number of walks so far. */
  walks: number;
}

/** Two changes within one tick of the kernel's clock may have the same time. */
const tickMs = 20;

/**
 * Yields after each folder, so that the caller can pause. Calls `visit` with each folder that was read; it
 * returns the subfolders to enter. Folders below `node_modules` come last.
 */
export function* walkFolders(
  root: string,
  cache: WalkCache,
  visit: (folder: FolderSeen) => readonly string[],
): Generator<void> {
  const walk = ++cache.walks;
  const first = [root];
  const last: string[] = [];
  for (let path = first.pop(); path !== undefined; path = first.pop() ?? last.pop()) {
    const known = knownFolder(path, cache, visit);
    if (known) {
      known.walk = walk;
      for (const below of known.below) first.push(below);
      for (const later of known.later) last.push(later);
    }
    yield;
  }
  for (const [path, known] of cache.folders) if (known.walk !== walk) cache.folders.delete(path);
}

function knownFolder(
  path: string,
  { folders }: WalkCache,
  visit: (folder: FolderSeen) => readonly string[],
): Known | undefined {
  const stats = kindOf(path);
  // It was a folder a moment ago: now it is gone or unreadable.
  if (!stats) visit({ path, entries: undefined });
  if (!stats?.isDirectory()) return undefined;
  const known = folders.get(path);
  if (known && known.ctimeMs === stats.ctimeMs && known.ino === stats.ino) return known;
  const isSettled = Date.now() - stats.ctimeMs > tickMs;
  const names = visit({ path, entries: entriesOf(path) });
  const whole = (name: string): string => `${path}/${name}`;
  const made = {
    ctimeMs: isSettled ? stats.ctimeMs : 0,
    ino: stats.ino,
    below: names.filter((name) => name !== "node_modules").map(whole),
    later: names.filter((name) => name === "node_modules").map(whole),
    walk: 0,
  };
  folders.set(path, made);
  return made;
}

function entriesOf(path: string): readonly Dirent[] | undefined {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return undefined;
  }
}
