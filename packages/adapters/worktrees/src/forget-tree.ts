/** Removes the folder of one git working tree and git's entry for it, and nothing of any other tree. */
import { existsSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { type Failure, failure } from "@lathe/protocol";
import { linkedTrees, repositoryPlace, unlinkTree } from "@lathe/system/git";
import { realPlaceOf } from "./real-folders.ts";

/** The path of a working tree, and the top of its repository. */
export interface PlacedTree {
  readonly top: string;
  readonly path: string;
}

/**
 * *Contract:* removes the tree with its content, also where it is locked, half made, or no working tree any more. Unlike
 * `git worktree prune` it keeps the entries of other trees that are missing now, for example on an unmounted disk.
 */
export function forgetTree({ top, path }: PlacedTree): Failure | undefined {
  try {
    rmSync(path, { recursive: true, force: true });
    const common = commonFolder(top);
    if (common === undefined) return undefined;
    const places = [path, realPlaceOf(path)];
    // An entry whose making was interrupted does not name its path yet.
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

/** Undefined where `top` is not the top of a repository itself: one around it is another repository. */
export function commonFolder(top: string): string | undefined {
  const place = repositoryPlace(top);
  return place?.top === top ? place.common : undefined;
}
