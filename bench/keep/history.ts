/** A clone's history for the benchmark: one line of commits, and the files that each changed. */
import { execFileSync } from "node:child_process";

export interface Commit {
  readonly id: string;
  /** The previous commit on this line; undefined for the first. */
  readonly parent: string | undefined;
  /** The author date, in milliseconds since the epoch: rebased commits were written earlier. */
  readonly at: number;
  /** When it was committed. */
  readonly committed: number;
}

export interface ChangedFile {
  readonly path: string;
  readonly from: string | null;
}

export function git(root: string, ...args: readonly string[]): string {
  const options = ["--no-pager", "-c", "core.quotePath=false", "-C", root];
  return execFileSync("git", [...options, ...args], { encoding: "utf8", maxBuffer: 2e9, stdio: "pipe" });
}

/** From the oldest to the newest, along first parents. */
export function firstParents(root: string, tip: string): readonly Commit[] {
  const listed = git(root, "log", "--first-parent", "--reverse", "--format=%H %ct %at %ce %ae", tip, "--");
  let parent: string | undefined;
  return listed
    .trim()
    .split("\n")
    .map((line) => {
      const [id = "", committed = "0", authored = "0", committer, author] = line.split(" ");
      const written =
        committer === author ? Math.min(Number(authored), Number(committed)) : Number(committed);
      const commit = { id, parent, at: written * 1000, committed: Number(committed) * 1000 };
      parent = id;
      return commit;
    });
}

/** The files that the commit added or changed, without links and other repositories. */
export function changedFiles(root: string, { id, parent }: Commit): readonly ChangedFile[] {
  if (parent === undefined) return [];
  const fields = git(root, "diff-tree", "-r", "-M", "-z", "--no-commit-id", "--raw", parent, id).split("\0");
  const files: ChangedFile[] = [];
  for (let i = 0; fields[i]?.startsWith(":"); i++) {
    const [, mode = "", , , status = ""] = (fields[i] ?? "").split(" ");
    const first = fields[++i] ?? "";
    const path = /^[RC]/.test(status) ? (fields[++i] ?? "") : first;
    if (mode.startsWith("100")) files.push({ path, from: status.startsWith("R") ? first : null });
  }
  return files;
}

/** Undefined if the file does not exist or is not text. */
export function textAt(root: string, commit: string | undefined, path: string): string | undefined {
  if (commit === undefined) return undefined;
  try {
    const text = git(root, "cat-file", "blob", `${commit}:${path}`);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
