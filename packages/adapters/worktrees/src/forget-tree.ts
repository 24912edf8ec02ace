/** Forgets one git working tree: its folder and what git keeps about it, and nothing about any other. */
import { existsSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { type Failure, failure } from "@lathe/protocol";
import { linkedTrees, repositoryPlace, unlinkTree } from "@lathe/system/git";
import { realPlaceOf } from "./real-folders.ts";

/** Where it lies, and in which repository. */
export interface PlacedTree {
  readonly top: string;
  readonly path: string;
}

/**
 * *Contract:* with all that is in it, also where it is locked, half made, or another thing by now. Never as `git worktree
 * prune` does: it takes the entries of whatever is not there at the moment, as of a disk that is not mounted.
 */
export function forgetTree({ top, path }: PlacedTree): Failure | undefined {
  try {
    rmSync(path, { recursive: true, force: true });
    const common = commonFolder(top);
    if (common === undefined) return undefined;
    const places = [path, realPlaceOf(path)];
    // An entry that was interrupted while it was made does not name its path yet.
    const halfMade = join(common, "worktrees", basename(path));
    const isHalfMade = existsSync(halfMade) && !existsSync(join(halfMade, "gitdir"));
    const entries = linkedTrees(common).filter((one) => places.includes(one.path));
    for (const entry of [...entries.map(({ gitFolder }) => gitFolder), ...(isHalfMade ? [halfMade] : [])]) {
      unlinkTree(common, entry);
    }
    return undefined;
  } catch (cause) {
    return failure("no-access", `${path} could not be removed: ${String(cause)}`, { who: "host", cause });
  }
}

/** Of the repository whose top it is: one around it is another one. */
export function commonFolder(top: string): string | undefined {
  const place = repositoryPlace(top);
  return place?.top === top ? place.common : undefined;
}
