/** @lathe/worktrees: git working trees of sessions and attempts. */

export {
  type AttemptTree,
  attemptTrees,
  dropAttemptTree,
  dropTestsTree,
  makeAttemptTree,
  type NewAttemptTree,
  sweepAttemptTrees,
  type WholeTree,
} from "./src/attempts/attempt-tree.ts";
export { copyTree } from "./src/attempts/copy-tree.ts";
export { compareTree, keepTree } from "./src/attempts/keep-tree.ts";
export { busyTree, findTree, type ListedTree, listTrees, wholeAndFree } from "./src/attempts/list-trees.ts";
export { type Unfiltered, unfilteredText } from "./src/check-out.ts";
export type { AttemptTreesHost, TreesHost } from "./src/trees-host.ts";
export {
  type DirtyChoice,
  openWorktree,
  refusedDirty,
  type Worktree,
  type WorktreeWish,
} from "./src/worktree.ts";
