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
  try {
    git(root, "checkout", "--quiet", "--force", commit);
    return true;
  } catch {
    return false;
  }
}
