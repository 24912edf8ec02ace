/** Walks a folder of a repository's working tree: all of it, or the part below one of its folders. */
import { relative, sep } from "node:path";
import { type HeldFolder, holdBelow } from "../held-folder.ts";
import { bytePath, diskPath } from "../paths/byte-path.ts";
import type { IgnoreScope } from "./ignore-scope.ts";
import type { IndexEntry } from "./index-entries.ts";
import { baseScope, type OpenRepository } from "./open-repository.ts";
import type { RepositoryPlace } from "./repository-place.ts";
import { type WalkOptions, walkWorkingTree } from "./walk-working-tree.ts";

export interface WalkBelow extends Pick<WalkOptions, "budget" | "visitor" | "untracked"> {
  /** The folder's prefix, as `prefixOf` returns it. */
  readonly prefix: string;
}

/**
 * Relative to the top of the working tree, with a trailing slash unless it is the top; one character per
 * byte.
 */
export function prefixOf({ top }: RepositoryPlace, folder: string): string {
  const inside = bytePath(relative(top, folder).split(sep).join("/"));
  return inside === "" ? "" : `${inside}/`;
}

/** *Contract:* false if the folder is ignored and contains nothing tracked; then it visits nothing. */
export async function walkBelow(
  repository: OpenRepository,
  { prefix, ...walking }: WalkBelow,
): Promise<boolean> {
  const { entries } = repository.index;
  const start = startAt(repository, prefix);
  try {
    const { from, to } = rangeOf(entries, prefix);
    if (from === to && start.isIgnored) return false;
    const options = { ...walking, entries, ignoresCase: repository.settings.ignoresCase };
    await walkWorkingTree({ ...start, prefix, from, to }, options);
    return true;
  } finally {
    start.folder.close();
  }
}

function rangeOf(entries: readonly IndexEntry[], prefix: string): { from: number; to: number } {
  const from = entries.findIndex(({ path }) => path.startsWith(prefix));
  if (from < 0) return { from: 0, to: 0 };
  return { from, to: entries.findLastIndex(({ path }) => path.startsWith(prefix)) + 1 };
}

interface Start {
  readonly folder: HeldFolder;
  /** The scope of the parent folder. */
  readonly scope: IgnoreScope;
  readonly isIgnored: boolean;
}

/** Goes down from the top, and collects the rules on the way. */
function startAt(repository: OpenRepository, prefix: string): Start {
  let folder = holdBelow(repository.top, "");
  let scope = baseScope(repository);
  let isIgnored = false;
  try {
    let path = "";
    for (const name of prefix.split("/").filter(Boolean)) {
      scope = scope.enter(folder, path, true);
      isIgnored = scope.ignores({ path: path + name, name, isFolder: true });
      const inner = folder.enter(diskPath(name));
      folder.close();
      folder = inner;
      path += `${name}/`;
    }
    return { folder, scope, isIgnored };
  } catch (error) {
    folder.close();
    throw error;
  }
}
