/** What waits for a decision under an id: a fork, or the working tree of an attempt; both are listed together. */
import { type Failure, failure, isFailure } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import { type AttemptTree, attemptTrees } from "../attempt-trees/attempt-tree.ts";
import { findTree } from "../attempt-trees/list-trees.ts";
import { allForks, type Fork, findFork } from "./forks.ts";

export type Waiting =
  | { readonly type: "fork"; readonly fork: Fork }
  | { readonly type: "tree"; readonly tree: AttemptTree };

/** How many there are of both, those included that are at work: without a look into any. */
export function countWaiting(env: Env): number {
  return allForks(env).length + attemptTrees(env).length;
}

/** From the start of its id or all of it. *Contract:* a failure unless it is the only one of both that begins so. */
export function findWaiting(env: Env, start: string): Waiting | Failure {
  const [fork, tree] = [findFork(env, start), findTree(env, start)];
  if (isFailure(fork)) return fork;
  if (isFailure(tree)) return tree;
  if (tree && (!fork || tree.id === start)) return { type: "tree", tree };
  if (fork && (!tree || fork.id === start)) return { type: "fork", fork };
  const what = fork ? `a fork and a working tree begin with "${start}"` : `there is no fork ${start}`;
  return failure("invalid-arguments", `${what}; \`lathe fork list\` shows them`, { who: "user" });
}
