/** Marks in a working tree's git folder: the tree is complete, another session has joined it, or it is being removed. */
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** One file has one of these names. Renaming it is atomic, so only one process decides. */
type Mark = "lathe-made" | "lathe-joined" | "lathe-leaving";

/** Called once everything is copied: the making of a tree without a mark was cut off. */
export function markMade(gitFolder: string): boolean {
  try {
    writeFileSync(join(gitFolder, "lathe-made" satisfies Mark), "", { flag: "wx" });
    return true;
  } catch {
    return false;
  }
}

/** Keeps the session that made the tree from removing it; false for a tree that is incomplete or being removed. */
export function joinTree(gitFolder: string): boolean {
  const isJoined = (): boolean => existsSync(join(gitFolder, "lathe-joined" satisfies Mark));
  // Another session may have joined between the two checks.
  return isJoined() || rename(gitFolder, "lathe-made", "lathe-joined") || isJoined();
}

/** False where another session has joined. */
export function beginLeaving(gitFolder: string): boolean {
  return rename(gitFolder, "lathe-made", "lathe-leaving");
}

export function stay(gitFolder: string): void {
  rename(gitFolder, "lathe-leaving", "lathe-made");
}

function rename(gitFolder: string, from: Mark, to: Mark): boolean {
  try {
    renameSync(join(gitFolder, from), join(gitFolder, to));
    return true;
  } catch {
    return false;
  }
}
