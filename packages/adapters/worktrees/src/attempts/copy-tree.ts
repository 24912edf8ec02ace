/** Copies an attempt's working tree, so that tests can run on the copy and leave no trace in the tree. */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { linkTree, readHead } from "@lathe/system/git";
import { putIndex } from "../check-out.ts";
import { commonFolder } from "../forget-tree.ts";
import { realPlaceOf } from "../real-folders.ts";
import type { TreesHost } from "../trees-host.ts";
import { dropTestsTree, testsPath, type WholeTree } from "./attempt-tree.ts";

const run = promisify(execFile);

/**
 * Another working tree with the same files, those that git ignores too. It is on no branch, so no commit made in it is
 * found later. Resolves with the folder in it that stands for the tree's.
 */
export async function copyTree(host: TreesHost, tree: WholeTree): Promise<string | Failure> {
  const { top, path, made } = tree;
  const left = dropTestsTree(tree);
  if (left) return left;
  const common = commonFolder(top);
  const commit = common && readHead({ gitFolder: made.gitFolder, common })?.commit;
  if (common === undefined || commit === undefined) return notCopied(tree, "its commit is not known");
  const copy = testsPath(tree);
  const place = { top: path, gitFolder: made.gitFolder, common };
  const box = await host.openGit({ place });
  if (isFailure(box)) return box;
  try {
    mkdirSync(copy);
    const gitFolder = linkTree(common, { path: realPlaceOf(copy), head: { commit } });
    const index = box.newIndex();
    const read = await box.git(["read-tree", commit], { index });
    if (isFailure(read)) throw read;
    const failed = putIndex(index, gitFolder);
    if (failed) throw failed;
    // All but the pointer to the repository, which the copy has already.
    const script =
      'cd "$1" && for name in * .[!.]* ..?*; do case $name in .git) ;; *) [ -e "$name" ] || [ -L "$name" ] || continue; cp -a -- "$name" "$2"/ || exit 1;; esac; done';
    await run("/bin/sh", ["-c", script, "sh", path, copy], { env: systemPrograms });
    return join(copy, relative(path, made.cwd));
  } catch (cause) {
    return dropTestsTree(tree) ?? notCopied(tree, isFailure(cause) ? cause.text : String(cause), cause);
  } finally {
    await box.close();
  }
}

/** So that `cp` is the system's own, whatever the user's PATH holds. */
const systemPrograms = { PATH: "/usr/bin:/bin:/run/current-system/sw/bin" };

function notCopied({ id }: WholeTree, why: string, cause?: unknown): Failure {
  const text = `what attempt ${id} holds could not be copied for its tests: ${why}`;
  return failure("no-access", text, { who: "host", cause });
}
