/** Finds the files of a working tree that differ from its commit. */
import { join } from "node:path";
import { type Failure, isFailure } from "@lathe/protocol";
import type { RepositoryPlace } from "@lathe/system/git";
import { readHead } from "@lathe/system/git";
import type { GitBox } from "./git/git-box.ts";

/** A commit to compare a working tree with, and the index that says what is checked out. */
export interface ComparedWith {
  readonly top: string;
  readonly commit: string;
  /** Path of an index in the git box. */
  readonly index: string;
}

/** With the tree's own commit and index, which commands in the tree may have changed. Throws file system errors. */
export function comparedWithOwn(box: GitBox, place: RepositoryPlace, commit?: string): ComparedWith {
  const { top, gitFolder } = place;
  const index = box.takeIndex(join(gitFolder, "index")) ?? box.newIndex();
  return { top, index, commit: commit ?? readHead(place)?.commit ?? "HEAD" };
}

/** Paths of one character per byte, without ignored files. */
export async function changedFiles(
  box: GitBox,
  compared: ComparedWith,
): Promise<readonly string[] | Failure> {
  const { top: workTree, index } = compared;
  const [tracked, untracked] = await Promise.all([
    changedTracked(box, compared),
    box.git(["ls-files", "-z", "-o", "--exclude-standard"], { workTree, index }),
  ]);
  if (isFailure(tracked)) return tracked;
  if (isFailure(untracked)) return untracked;
  return [...new Set([...tracked, ...namesIn(untracked)])];
}

export async function changedTracked(
  box: GitBox,
  { top: workTree, index, commit }: ComparedWith,
): Promise<readonly string[] | Failure> {
  const options = ["--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=all"];
  const found = await box.git(["diff", "-z", ...options, commit], { workTree, index });
  return isFailure(found) ? found : namesIn(found);
}

export function namesIn(listed: string): readonly string[] {
  return listed.split("\0").filter(Boolean);
}
