/** Clones the benchmark's repositories, and checks out their commits. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { git } from "./git.ts";
import type { BenchRepository } from "./repositories.ts";

/** *Contract:* the clone is at the newest commit, whatever it was at before. */
export function cloneOf(clones: string, { name, url }: BenchRepository): string {
  const folder = join(clones, name.split("/")[1] ?? name);
  if (!existsSync(folder)) {
    mkdirSync(clones, { recursive: true });
    git(clones, "clone", "--quiet", url, folder);
  }
  git(folder, "checkout", "--quiet", "--force", "origin/HEAD");
  return folder;
}

/** False if the clone lacks large files of an old commit. */
export function checkedOut(root: string, commit: string): boolean {
  return succeeds(root, "checkout", "--quiet", "--force", commit);
}

/**
 * Applies the commit's changes to its parent in the worktree. *Contract:* the history stays the parent's:
 * with the commit in it, the most recently changed files would be the answer.
 */
export function applied(root: string, commit: string): boolean {
  return succeeds(root, "restore", "--source", commit, "--staged", "--worktree", ".");
}

function succeeds(root: string, ...args: readonly string[]): boolean {
  try {
    git(root, ...args);
    return true;
  } catch {
    return false;
  }
}
