/** The history of a clone as the benchmark sees it: one line of commits, and what each of them made of its files. */
import { execFileSync } from "node:child_process";

export interface Commit {
  readonly id: string;
  /** The one before it on this line; undefined for the first. */
  readonly parent: string | undefined;
  /** When it was written, in milliseconds since the epoch: whoever rebases commits of their own had written them before. */
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

/** The files that are there after it and were not, or were others; no links, no other repositories. */
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

/** Undefined where there is no such file, or no text. */
export function textAt(root: string, commit: string | undefined, path: string): string | undefined {
  if (commit === undefined) return undefined;
  try {
    const text = git(root, "cat-file", "blob", `${commit}:${path}`);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
