/** Goes through all folders of a workspace, and reads again only those in which something came, went or changed its name. */
import { type Dirent, readdirSync } from "node:fs";
import { kindOf } from "@lathe/system/paths";

/** A folder that was read, with the names in it that matter. */
export interface FolderSeen {
  readonly path: string;
  /** Undefined where we may not look. */
  readonly entries: readonly Dirent[] | undefined;
}

interface Known {
  /** Zero where a change could have gone unseen. */
  readonly ctimeMs: number;
  readonly ino: number;
  /** Whole paths, those of `node_modules` apart. */
  readonly below: readonly string[];
  readonly later: readonly string[];
  walk: number;
}

export interface WalkCache {
  readonly folders: Map<string, Known>;
  /** How many walks there have been. */
  walks: number;
}

/** Two changes within one tick of the kernel's clock may have the same time. */
const tickMs = 20;

/**
 * Yields after each folder, so that who walks can stop for a while. `visit` is told of each folder that was read and says
 * which of its folders are gone into; what lies below `node_modules` comes last.
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
  // It was a folder a moment ago: gone, or not to be looked at.
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
