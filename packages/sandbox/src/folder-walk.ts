/** Goes through all folders of a workspace, and reads again only those in which something came, went or changed its name. */
import { type Dirent, readdirSync } from "node:fs";
import { kindOf } from "./kind-of.ts";

/** A folder that was read, with the names in it that matter. */
export interface FolderSeen {
  readonly path: string;
  /** Undefined where we may not look. */
  readonly entries: readonly Dirent[] | undefined;
}

export interface WalkCache {
  readonly folders: Map<string, { readonly stamp: string; readonly below: readonly string[] }>;
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
  const seen = new Set<string>();
  const first = [root];
  const last: string[] = [];
  for (let path = first.pop(); path !== undefined; path = first.pop() ?? last.pop()) {
    seen.add(path);
    for (const name of below(path, cache, visit)) {
      (name === "node_modules" ? last : first).push(`${path}/${name}`);
    }
    yield;
  }
  for (const path of cache.folders.keys()) if (!seen.has(path)) cache.folders.delete(path);
}

function below(
  path: string,
  { folders }: WalkCache,
  visit: (folder: FolderSeen) => readonly string[],
): readonly string[] {
  const stats = kindOf(path);
  // It was a folder a moment ago: gone, or not to be looked at.
  if (!stats) visit({ path, entries: undefined });
  if (!stats?.isDirectory()) return [];
  const isSettled = Date.now() - stats.ctimeMs > tickMs;
  const stamp = `${stats.ino} ${stats.ctimeMs}`;
  const known = folders.get(path);
  if (known?.stamp === stamp) return known.below;
  const names = visit({ path, entries: entriesOf(path) });
  folders.set(path, { stamp: isSettled ? stamp : "", below: names });
  return names;
}

function entriesOf(path: string): readonly Dirent[] | undefined {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return undefined;
  }
}
