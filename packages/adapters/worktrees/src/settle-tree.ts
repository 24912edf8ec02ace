/** Removes a working tree with its branch when its session ends, unless something has changed in it. */
import { type Failure, failure, isFailure } from "@lathe/protocol";
import type { RepositoryPlace } from "@lathe/system/git";
import { linkedTrees } from "@lathe/system/git";
import type { GitBox } from "./git/git-box.ts";
import { removeTree } from "./remove-tree.ts";
import { beginLeaving, stay } from "./tree-marks.ts";
import { treeState } from "./tree-state.ts";
import type { TreesHost } from "./trees-host.ts";

interface Settled {
  readonly host: TreesHost;
  readonly top: string;
  readonly path: string;
  readonly branch: string;
  /** The working tree as a repository. */
  readonly own: RepositoryPlace;
}

/** Records the state of the tree; the function it resolves with says later whether the tree stays. */
export async function settling(
  making: GitBox,
  tree: Settled,
): Promise<(() => Promise<boolean | Failure>) | Failure> {
  const { branch, host, own } = tree;
  const looked = { path: own.top, branch, gitFolder: own.gitFolder, common: own.common };
  const before = await treeState(making, looked);
  if (isFailure(before)) return before;
  return async () => {
    const box = await host.openGit({ place: own });
    if (isFailure(box)) return box;
    const hasChanged = async (): Promise<boolean> => {
      const state = await treeState(box, looked);
      return isFailure(state) || state.hash !== before.hash;
    };
    try {
      if ((await hasChanged()) || !beginLeaving(own.gitFolder)) return true;
      // Another session may have joined, worked and ended since the first comparison; none can from here on.
      const left = (await hasChanged()) || isLocked(own) || (await removeTree(tree));
      if (left) stay(own.gitFolder);
      return left ?? false;
    } finally {
      await box.close();
    }
  };
}

/** A person locks a working tree to keep it. */
function isLocked({ top, common }: RepositoryPlace): Failure | undefined {
  if (!linkedTrees(common).some((tree) => tree.path === top && tree.isLocked)) return undefined;
  const text = `${top} is locked, so it stays: \`git worktree unlock ${top}\``;
  return failure("no-access", text, { who: "user" });
}
