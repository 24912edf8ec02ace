/** Reads from `git blame` which lines a commit added, and which later commit removed each of them. */
import { type ChangedFile, type Commit, git } from "./history.ts";

/** For each line of the file at that commit, from 0: whether blame attributes it to the commit itself. */
export function ownLines(root: string, commit: Commit, { path }: ChangedFile): readonly boolean[] {
  const range = `${commit.parent}..${commit.id}`;
  const options = ["-w", "-M", "-C", "--first-parent", "--porcelain"];
  return blamed(git(root, "blame", ...options, range, "--", path)).map((id) => id === commit.id);
}

/** For each line of the file at that commit, the last commit up to `tip` that has it. */
export function lastSeen(
  root: string,
  { commit, tip, path }: { readonly commit: Commit; readonly tip: Commit; readonly path: string },
): readonly string[] {
  if (commit.id === tip.id) return [];
  const options = ["--reverse", "-w", "-M", "-C", "--first-parent", "--porcelain"];
  return blamed(git(root, "blame", ...options, `${commit.id}..${tip.id}`, "--", path));
}

/** The commit of each line. */
function blamed(porcelain: string): readonly string[] {
  const ids: string[] = [];
  for (const line of porcelain.split("\n")) {
    const found = /^([0-9a-f]{40}) \d+ (\d+)/.exec(line);
    if (found) ids[Number(found[2]) - 1] = found[1] ?? "";
  }
  return ids;
}
