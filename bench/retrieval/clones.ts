/** Clones of the benchmark's repositories, and their checkouts. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { git } from "./git.ts";
import type { BenchRepository } from "./repositories.ts";

/** *Contract:* at the newest commit, whatever it was at. */
export function cloneOf(clones: string, { name, url }: BenchRepository): string {
  const folder = join(clones, name.split("/")[1] ?? name);
  if (!existsSync(folder)) {
    mkdirSync(clones, { recursive: true });
    git(clones, "clone", "--quiet", url, folder);
  }
  git(folder, "checkout", "--quiet", "--force", "origin/HEAD");
  return folder;
}

/** A clone may lack large files of old commits. */
export function checkedOut(root: string, commit: string): boolean {
  return succeeds(root, "checkout", "--quiet", "--force", commit);
}

/**
 * What the commit changed, into its parent that is checked out. *Contract:* the history stays the parent's: with the commit in it the
 * files that were changed last would be the answer.
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
