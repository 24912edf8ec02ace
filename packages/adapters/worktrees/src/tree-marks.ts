/** What a working tree's own git folder says of it: made to its end, gone on with by others, or about to be removed. */
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** One file under one of these names: who renames it has decided, and nobody else. */
type Mark = "lathe-made" | "lathe-joined" | "lathe-leaving";

/** Only once all is carried: a tree without a mark was cut off while it was made. */
export function markMade(gitFolder: string): boolean {
  try {
    writeFileSync(join(gitFolder, "lathe-made" satisfies Mark), "", { flag: "wx" });
    return true;
  } catch {
    return false;
  }
}

/** From now on it is not removed by the session that made it; false for one that is not whole, or about to go. */
export function joinTree(gitFolder: string): boolean {
  const isJoined = (): boolean => existsSync(join(gitFolder, "lathe-joined" satisfies Mark));
  // Somebody else may have joined between the two looks.
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
