/** Finds a copy that waits for a decision, among forks and working trees: both have IDs of one kind. */
import { type Failure, failure, isFailure } from "@lathe/protocol";

/** One kind of copy. */
export interface WaitingCopies<Copy> {
  /** *Contract:* by an ID prefix; a failure if several match, undefined if none does. */
  find(start: string): Copy | Failure | undefined;
}

interface Identified {
  readonly id: string;
}

export type Waiting<Fork, Tree> =
  | { readonly type: "fork"; readonly fork: Fork }
  | { readonly type: "tree"; readonly tree: Tree };

/** By an ID prefix. *Contract:* a failure unless exactly one copy of both kinds matches. */
export function findWaiting<Fork extends Identified, Tree extends Identified>(
  start: string,
  forks: WaitingCopies<Fork>,
  trees: WaitingCopies<Tree>,
): Waiting<Fork, Tree> | Failure {
  const [fork, tree] = [forks.find(start), trees.find(start)];
  if (isFailure(fork)) return fork;
  if (isFailure(tree)) return tree;
  if (tree && (!fork || tree.id === start)) return { type: "tree", tree };
  if (fork && (!tree || fork.id === start)) return { type: "fork", fork };
  const what = fork ? `a fork and a working tree begin with "${start}"` : `there is no fork ${start}`;
  return failure("invalid-arguments", `${what}; \`lathe fork list\` shows them`, { who: "user" });
}
