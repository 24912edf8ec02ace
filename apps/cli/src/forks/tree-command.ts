/** `lathe fork` for the git working trees of attempts: one shown, kept or dropped. */
import { type AttemptTree, dropAttemptTree } from "@lathe/hosts/attempt-trees/attempt-tree";
import { compareTree, keepTree } from "@lathe/hosts/attempt-trees/keep-tree";
import { busyTree, wholeAndFree } from "@lathe/hosts/attempt-trees/list-trees";
import { type Failure, isFailure } from "@lathe/protocol";
import { paletteFor } from "@lathe/terminal";
import { problemLine } from "../command-line/show-failure.ts";
import { whileWriting } from "../run/while-writing.ts";
import { showDifferences } from "./diff-command.ts";
import { exitCodeOfKept, keptText } from "./settle-fork.ts";

export interface TreeWish {
  readonly what: "diff" | "keep" | "drop";
  readonly json: boolean;
  readonly hostRun: boolean;
  readonly force: boolean;
}

export async function treeCommand(found: AttemptTree, wish: TreeWish): Promise<number | Failure> {
  const { env } = process;
  if (wish.what === "drop") {
    return (await busyTree(env, found)) ?? (await dropAttemptTree(env, found)) ?? 0;
  }
  const tree = await wholeAndFree(env, found);
  if (isFailure(tree)) return tree;
  if (wish.what === "diff") {
    const compared = await compareTree(env, tree);
    if (isFailure(compared)) return compared;
    return showDifferences({ base: tree.base, upper: tree.made.cwd }, compared, wish.json);
  }
  const { hostRun, force } = wish;
  const kept = await whileWriting("taking the changes over", (tell, signal) =>
    keepTree(env, tree, { hostRun, force, signal, onRemark: (text) => tell(problemLine(text)) }),
  );
  if (isFailure(kept)) return kept;
  process.stderr.write(keptText(tree, kept, paletteFor(process.stderr, env)));
  return exitCodeOfKept(kept);
}
