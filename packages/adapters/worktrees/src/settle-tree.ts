/** Whether a working tree stays when its session ends: one in which nothing has changed goes, with its branch. */
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
  /** The working tree itself. */
  readonly own: RepositoryPlace;
}

/** Knows it as it is now, and resolves with what tells later whether it is still there. */
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
      // Another session may have joined, worked and ended since the first look; none can from here on.
      const left = (await hasChanged()) || isLocked(own) || (await removeTree(tree));
      if (left) stay(own.gitFolder);
      return left ?? false;
    } finally {
      await box.close();
    }
  };
}

/** As a person does who wants it kept. */
function isLocked({ top, common }: RepositoryPlace): Failure | undefined {
  if (!linkedTrees(common).some((tree) => tree.path === top && tree.isLocked)) return undefined;
  const text = `${top} is locked, so it stays: \`git worktree unlock ${top}\``;
  return failure("no-access", text, { who: "user" });
}
