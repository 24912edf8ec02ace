/** Which files of a folder a repository knows, which it does not, and which folders it ignores; no content is read. */
import { shownPath } from "../paths/byte-path.ts";
import { entryType, type IndexEntry } from "./index-entries.ts";
import { withRepository } from "./open-repository.ts";
import type { RepositoryPlace } from "./repository-place.ts";
import type { StatusOptions } from "./repository-status.ts";
import { prefixOf, walkBelow } from "./walk-below.ts";
import type { TreeVisitor } from "./walk-working-tree.ts";

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
    await walkBelow(repository, { prefix, visitor, budget: options.budget, untracked: "each" });
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
    const isWalked = await walkBelow(repository, {
      prefix,
      visitor,
      budget: options.budget,
      untracked: "each",
    });
    return isWalked ? folders : ["./"];
  });
}

function isFile({ mode }: IndexEntry): boolean {
  const type = mode & entryType.mask;
  return type === entryType.file || type === entryType.link;
}
