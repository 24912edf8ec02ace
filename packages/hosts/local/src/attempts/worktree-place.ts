/** A git working tree as the place of an attempt, where the folder can have no fork. */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import { linkTree, readHead } from "@lathe/system/git";
import { dropAttemptTree, dropTestsTree, testsPath, type WholeTree } from "../attempt-trees/attempt-tree.ts";
import { keepTree } from "../attempt-trees/keep-tree.ts";
import { treeDifferences } from "../attempt-trees/tree-differences.ts";
import { mendFolder } from "../forks/forks.ts";
import { openGitBox } from "../repository/git-box.ts";
import { putIndex } from "../worktrees/check-out.ts";
import { commonFolder } from "../worktrees/forget-tree.ts";
import { realPlaceOf } from "../worktrees/real-folders.ts";
import { changesOf } from "./changes-of.ts";
import type { Entrance, Place } from "./place.ts";

const run = promisify(execFile);

export function worktreePlace(env: Env, tree: WholeTree): Place {
  const { id, base, made } = tree;
  const entrance = (program: readonly string[], cwd: string): Entrance | Failure => {
    const [file, ...args] = program;
    if (file === undefined) return failure("not-found", "there is no program to start");
    // What the person said of the folder's hooks holds in its copy.
    return { words: [file, ...args], cwd, env: { ...env, LATHE_COPY_OF: base } };
  };
  /** A process that died in the middle of a change has left it half done. */
  const mend = (): Promise<void> => mendFolder(env, made.cwd);
  return {
    enter: async (program) => entrance(program, made.cwd),
    enterCopy: async (program) => {
      await mend();
      const copied = await copyTree(env, tree);
      if (isFailure(copied)) return copied;
      const found = entrance(program, join(copied, relative(tree.path, made.cwd)));
      const leave = async (): Promise<void> => void dropTestsTree(tree);
      return isFailure(found) ? found : { entrance: found, leave };
    },
    changes: async (command) => {
      await mend();
      const compared = await treeDifferences(env, tree);
      if (isFailure(compared)) return compared;
      return changesOf(compared.differences, { base, upper: made.cwd, command });
    },
    take: async (onRemark) => {
      await mend();
      const kept = await keepTree(env, tree, { hostRun: false, force: false, onRemark });
      if (isFailure(kept)) return kept;
      const { kept: differences, ...rest } = kept;
      return { paths: differences.map(({ path }) => Buffer.from(path, "latin1").toString()), ...rest };
    },
    drop: () => dropAttemptTree(env, tree),
    ways: { take: `fork keep ${id}`, drop: `fork drop ${id}`, look: `fork diff ${id}` },
  };
}

/** Another working tree with the same files, what git ignores too, on no branch: what is committed in it is found by nobody. */
async function copyTree(env: Env, tree: WholeTree): Promise<string | Failure> {
  const { top, path, made } = tree;
  const left = dropTestsTree(tree);
  if (left) return left;
  const common = commonFolder(top);
  const commit = common && readHead({ gitFolder: made.gitFolder, common })?.commit;
  if (common === undefined || commit === undefined) return notCopied(tree, "its commit is not known");
  const copy = testsPath(tree);
  const place = { top: path, gitFolder: made.gitFolder, common };
  const box = await openGitBox(env, { place });
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
    return copy;
  } catch (cause) {
    return dropTestsTree(tree) ?? notCopied(tree, isFailure(cause) ? cause.text : String(cause), cause);
  } finally {
    await box.close();
  }
}

/** `cp` is the system's own, whatever a PATH holds. */
const systemPrograms = { PATH: "/usr/bin:/bin:/run/current-system/sw/bin" };

function notCopied({ id }: WholeTree, why: string, cause?: unknown): Failure {
  const text = `what attempt ${id} holds could not be copied for its tests: ${why}`;
  return failure("no-access", text, { who: "host", cause });
}
