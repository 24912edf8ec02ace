/** The working trees linked to a repository: lists, adds and removes them, as `git worktree` does. */
import { readdirSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { inFolder, replaceFile, writeNew } from "./below-folder.ts";
import { plainText } from "./plain-bytes.ts";
import { type Head, readHead } from "./ref-files.ts";

export interface LinkedTree {
  /** Git's folder for it. */
  readonly gitFolder: string;
  /** Its path, which may not exist any more. */
  readonly path: string;
  readonly head: Head | undefined;
  readonly isLocked: boolean;
}

const maxPointer = 16 * 1024;

/** `common`: real path. *Contract:* never throws; omits incomplete or unreadable entries. */
export function linkedTrees(common: string): readonly LinkedTree[] {
  return namesIn(join(common, "worktrees")).flatMap((name) => {
    const gitFolder = join(common, "worktrees", name);
    const pointer = plainText(join(gitFolder, "gitdir"), maxPointer)?.trimEnd();
    if (!pointer) return [];
    // Newer git may write it relative to the entry.
    const path = resolve(gitFolder, pointer, "..");
    const isLocked = plainText(join(gitFolder, "locked"), maxPointer) !== undefined;
    return [{ gitFolder, path, head: readHead({ gitFolder, common }), isLocked }];
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((one) =>
      one.isDirectory() ? [one.name] : [],
    );
  } catch {
    return [];
  }
}

export interface NewTree {
  /** Absolute; an existing folder, with no links in its path. */
  readonly path: string;
  /** A branch by its full name, or a commit. */
  readonly head: { readonly ref: string } | { readonly commit: string };
}

const maxNames = 1000;

/**
 * Adds the working tree, and writes its `.git`. *Contract:* returns git's folder for it, which has no index
 * yet; throws file system errors.
 */
export function linkTree(common: string, { path, head }: NewTree): string {
  const wanted = basename(path)
    .replaceAll(/[^\w.-]/g, "-")
    .replace(/^\.+|\.lock$/g, "-");
  return inFolder(common, ["worktrees"], (trees) => {
    for (let count = 0; count < maxNames; count++) {
      const name = count === 0 ? wanted : `${wanted}${count}`;
      if (trees.lstat(name)) continue;
      const gitFolder = join(common, "worktrees", name);
      // Git does not see the entry before its last file, the pointer.
      inFolder(common, ["worktrees", name], (entry) => {
        replaceFile(entry, "commondir", "../..\n");
        replaceFile(entry, "HEAD", "ref" in head ? `ref: ${head.ref}\n` : `${head.commit}\n`);
        replaceFile(entry, "gitdir", `${join(path, ".git")}\n`);
      });
      inFolder(path, [], (tree) => writeNew(tree, ".git", `gitdir: ${gitFolder}\n`));
      return gitFolder;
    }
    throw new Error(`${common} has too many working trees of the name ${wanted}`);
  });
}

/** Removes git's entry for the working tree; the tree itself stays. Throws what the file system throws. */
export function unlinkTree(common: string, gitFolder: string): void {
  inFolder(common, ["worktrees"], (trees) =>
    rmSync(`${trees.reached}/${basename(gitFolder)}`, { recursive: true, force: true }),
  );
  inFolder(common, [], (folder) => {
    // Git removes the parent folder with the last one.
    if (namesIn(join(common, "worktrees")).length === 0 && folder.lstat("worktrees")?.isDirectory())
      rmSync(`${folder.reached}/worktrees`, { recursive: true, force: true });
  });
}
