/** Local trees: git working trees on this machine, including attempts that wait for a decision. */
import type { AppliedCopy, ApplyOptions, ComparedCopy, Failure } from "@lathe/protocol";
import { newSessionId } from "@lathe/sessions";
import type { Env } from "@lathe/system";
import {
  type AttemptTree,
  type AttemptTreesHost,
  attemptTrees,
  busyTree,
  compareTree,
  copyTree,
  dropAttemptTree,
  dropTestsTree,
  findTree,
  keepTree,
  type ListedTree,
  listTrees,
  makeAttemptTree,
  type NewAttemptTree,
  openWorktree,
  refusedDirty,
  sweepAttemptTrees,
  type WholeTree,
  type Worktree,
  type WorktreeWish,
  wholeAndFree,
} from "@lathe/worktrees";
import { attemptsUse } from "../forks/attempts-use.ts";
import { withRecovery } from "../forks/local-forks.ts";
import { systemClock } from "../machine/system-clock.ts";
import { stateFolder, workspaceFolder } from "../places/state-folder.ts";
import { openGitBox } from "../repository/git-box.ts";
import { ownChangeReason } from "../rules/own-places.ts";

export interface Trees {
  /** *Contract:* a working tree for one session; the folder, its index and its branch do not change. */
  open(wish: WorktreeWish): Promise<Worktree | Failure>;
  /** *Contract:* undefined if everything in the folder is committed. */
  refusedDirty(cwd: string): Promise<Failure | undefined>;
  /** The trees of attempts, oldest first. */
  all(): readonly AttemptTree[];
  /** Finds a tree by an ID prefix; undefined if there is none. */
  find(start: string): AttemptTree | Failure | undefined;
  make(wish: NewAttemptTree): Promise<WholeTree | Failure>;
  /** Finishes interrupted removals. */
  sweep(): Promise<void>;
  /** Oldest first. Removes unchanged trees that dead processes have left. */
  list(): Promise<readonly ListedTree[]>;
  /** *Contract:* a failure while a session works in the tree. */
  busy(tree: AttemptTree): Promise<Failure | undefined>;
  /** *Contract:* a failure while a session works in the tree, or if its creation was interrupted. */
  wholeAndFree(tree: AttemptTree): Promise<WholeTree | Failure>;
  compare(tree: WholeTree): Promise<ComparedCopy | Failure>;
  /** *Contract:* all or none, across `kill -9`; removes the tree once no change is held back. */
  keep(tree: WholeTree, options: ApplyOptions): Promise<AppliedCopy | Failure>;
  drop(tree: AttemptTree): Promise<Failure | undefined>;
  /** *Contract:* a copy for tests, one at a time; resolves with the folder to work in. */
  copy(tree: WholeTree): Promise<string | Failure>;
  dropCopy(tree: AttemptTree): Failure | undefined;
}

export function localTrees(env: Env): Trees {
  const host: AttemptTreesHost = {
    state: stateFolder(env),
    clock: systemClock,
    newId: () => newSessionId(systemClock),
    openGit: (wish) => openGitBox(env, wish),
    journal: (root) => workspaceFolder(env, root),
    ownPlaces: (base) => ownChangeReason(env, base),
    useOf: (session) => attemptsUse(env, session),
  };
  return {
    open: (wish) => openWorktree(host, wish),
    refusedDirty: (cwd) => refusedDirty(host, cwd),
    all: () => attemptTrees(host),
    find: (start) => findTree(host, start),
    make: (wish) => makeAttemptTree(host, wish),
    sweep: () => sweepAttemptTrees(host),
    list: () => listTrees(host),
    busy: (tree) => busyTree(host, tree),
    wholeAndFree: (tree) => wholeAndFree(host, tree),
    compare: (tree) => compareTree(host, tree),
    keep: (tree, options) => keepTree(host, tree, withRecovery(options)),
    drop: (tree) => dropAttemptTree(host, tree),
    copy: (tree) => copyTree(host, tree),
    dropCopy: dropTestsTree,
  };
}
