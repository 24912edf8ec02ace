/** Which files of a folder a repository knows, which it does not, and which folders it ignores; no content is read. */
import { relative, sep } from "node:path";
import { type HeldFolder, holdBelow } from "../held-folder.ts";
import { bytePath, entryName, shownPath } from "./byte-names.ts";
import type { IgnoreScope } from "./ignore-scope.ts";
import { entryType, type IndexEntry } from "./index-entries.ts";
import { baseScope, type OpenRepository, withRepository } from "./open-repository.ts";
import type { RepositoryPlace } from "./repository-place.ts";
import type { StatusOptions } from "./repository-status.ts";
import { type TreeVisitor, type WalkedFolder, walkWorkingTree } from "./walk-working-tree.ts";

export interface FilesOptions extends StatusOptions {
  /** Real path of the folder that is asked about, in the working tree; paths are told from there. */
  readonly folder: string;
}

/**
 * In the index, whether or not they are there, but not in folders that a sparse index leaves out whole. *Contract:* throws
 * where it cannot be known, or not within the budget.
 */
export function trackedFiles(place: RepositoryPlace, options: FilesOptions): Promise<readonly string[]> {
  return withRepository(place, options.env, ({ index }) => {
    const prefix = prefixOf(place, options.folder);
    return index.entries
      .filter((entry) => entry.path.startsWith(prefix) && isFile(entry))
      .map(({ path }) => shownPath(path.slice(prefix.length)))
      .filter((path, at, all) => path !== all[at - 1]);
  });
}

/** Tracked files, and those that are not and are not ignored. *Contract:* as `trackedFiles`. */
export function knownFiles(place: RepositoryPlace, options: FilesOptions): Promise<readonly string[]> {
  return withRepository(place, options.env, async (repository) => {
    const prefix = prefixOf(place, options.folder);
    const paths: string[] = [];
    const note = (path: string): void => void paths.push(shownPath(path.slice(prefix.length)));
    const visitor: TreeVisitor = {
      found: (entry) => (isFile(entry) ? note(entry.path) : undefined),
      missing: (entry) => (isFile(entry) ? note(entry.path) : undefined),
      untracked: (path) => (path.endsWith("/") ? undefined : note(path)),
    };
    await walkBelow(repository, { ...options, prefix, visitor });
    return paths;
  });
}

/**
 * Ignored folders, and those that hold nothing else, with a slash at their end; `./` where the folder itself is ignored.
 * *Contract:* as `trackedFiles`. Those in repositories within are theirs.
 */
export function ignoredFolders(place: RepositoryPlace, options: FilesOptions): Promise<readonly string[]> {
  return withRepository(place, options.env, async (repository) => {
    const prefix = prefixOf(place, options.folder);
    const folders: string[] = [];
    const visitor: TreeVisitor = {
      ignored: (path) => {
        if (path.endsWith("/")) folders.push(shownPath(path.slice(prefix.length)));
      },
    };
    const isIgnored = await walkBelow(repository, { ...options, prefix, visitor });
    return isIgnored ? ["./"] : folders;
  });
}

interface Walking extends FilesOptions {
  readonly prefix: string;
  readonly visitor: TreeVisitor;
}

/** True where the folder is ignored and holds nothing tracked; then nothing is visited. */
async function walkBelow(repository: OpenRepository, walking: Walking): Promise<boolean> {
  const { prefix, visitor, budget } = walking;
  const { index, settings } = repository;
  const start = startAt(repository, prefix);
  try {
    const from = index.entries.findIndex(({ path }) => path.startsWith(prefix));
    const count = index.entries.filter(({ path }) => path.startsWith(prefix)).length;
    if (count === 0 && start.isIgnored) return true;
    const walked: WalkedFolder = { ...start, prefix, from: Math.max(0, from), to: Math.max(0, from) + count };
    const { entries } = index;
    await walkWorkingTree(walked, {
      ...{ entries, visitor, budget },
      ignoresCase: settings.ignoresCase,
      untracked: "each",
    });
    return false;
  } finally {
    start.folder.close();
  }
}

interface Start {
  readonly folder: HeldFolder;
  /** Of the folder above. */
  readonly scope: IgnoreScope;
  readonly isIgnored: boolean;
}

/** Down from the top, with the rules on the way. */
function startAt(repository: OpenRepository, prefix: string): Start {
  let folder = holdBelow(repository.top, "");
  let scope = baseScope(repository);
  let isIgnored = false;
  try {
    let path = "";
    for (const name of prefix.split("/").filter(Boolean)) {
      scope = scope.enter(folder, path, true);
      isIgnored = scope.ignores({ path: path + name, name, isFolder: true });
      const inner = folder.enter(entryName(name));
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

function prefixOf({ top }: RepositoryPlace, folder: string): string {
  const inside = bytePath(relative(top, folder).split(sep).join("/"));
  return inside === "" ? "" : `${inside}/`;
}

function isFile({ mode }: IndexEntry): boolean {
  const type = mode & entryType.mask;
  return type === entryType.file || type === entryType.link;
}
