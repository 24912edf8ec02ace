/** The files of an attempt tree's commit: their modes, and their content as git checks it out. */
import { type Failure, isFailure } from "@lathe/protocol";
import type { ComparedWith } from "../changed-files.ts";
import type { GitBox } from "../git/git-box.ts";

/** The mode of each file, by its name of one character per byte. */
export async function committedModes(
  box: GitBox,
  { commit }: ComparedWith,
): Promise<ReadonlyMap<string, string> | Failure> {
  const listed = await box.git(["ls-tree", "-r", "-z", "--full-tree", commit]);
  if (isFailure(listed)) return listed;
  const entries = listed.split("\0").flatMap((line) => {
    const [, mode, name] = /^(\d+) \S+ \w+\t([\s\S]*)$/.exec(line) ?? [];
    return mode && name !== undefined ? [[name, mode] as const] : [];
  });
  return new Map(entries);
}

/**
 * Checks these files out into the box's own folder, and resolves with that. The attributes of the commit decide on line
 * endings: those of the working tree may have changed since.
 */
export async function putCommitted(
  box: GitBox,
  { index }: ComparedWith,
  names: readonly string[],
): Promise<string | Failure> {
  if (names.length === 0) return box.made;
  const input = names.map((name) => `${name}\0`).join("");
  const run = { workTree: box.made, index, input };
  const put = await box.git(["checkout-index", "-q", "-z", "--stdin"], run);
  return isFailure(put) ? put : box.made;
}
