/**
 * History: a repository's commits and files, through the git port, so that none of its configured programs
 * run.
 */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Failure, failure, type Git, isFailure, type OpenRepository } from "@lathe/protocol";

export interface ChangedFile {
  readonly status: "added" | "changed" | "deleted";
  readonly path: string;
}

export interface HistoryCommit {
  readonly id: string;
  readonly parent: string;
  readonly subject: string;
  readonly body: string;
  readonly files: readonly ChangedFile[];
}

export interface History {
  /** Newest first, along first parents: a merge is one change. Omits the first commit. */
  commits(most: number): Promise<readonly HistoryCommit[] | Failure>;
  /** Writes the files of a commit into an empty folder. */
  checkOut(commit: string, folder: string): Promise<Failure | undefined>;
  /** Writes some files of a commit over those in the folder. */
  checkOutFiles(commit: string, paths: readonly string[], folder: string): Promise<Failure | undefined>;
  /** The change of some files from one commit to another, in the form that `git apply` accepts. */
  patch(from: string, to: string, paths: readonly string[]): Promise<string | Failure>;
  close(): Promise<void>;
}

/** `writes` is the only folder where commits are checked out. */
export async function openHistory(
  repository: string,
  { git, writes }: { readonly git: Git; readonly writes: string },
): Promise<History | Failure> {
  const opened = await git.open(repository, writes);
  if (isFailure(opened))
    return opened.code === "not-found" ? noTasks(repository, "is no git repository") : opened;
  const head = opened.tip("HEAD");
  if (head === undefined) {
    await opened.close();
    return noTasks(repository, "has no commit yet");
  }
  return {
    commits: (most) => readCommits(opened, { head, most }),
    checkOut: (commit, folder) => checkOut(opened, { commit, folder, writes }),
    checkOutFiles: (commit, paths, folder) => checkOut(opened, { commit, folder, paths, writes }),
    patch: (from, to, paths) => ask(opened, [...patchWords, from, to, "--", ...paths]),
    close: () => opened.close(),
  };
}

const patchWords = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--binary"];

function noTasks(repository: string, why: string): Failure {
  const text = `${repository} ${why}: tasks are made of a history`;
  return failure("not-found", text, { who: "user" });
}

async function ask(opened: OpenRepository, args: readonly string[]): Promise<string | Failure> {
  const printed = await opened.run(args);
  return isFailure(printed) ? printed : Buffer.from(printed, "latin1").toString();
}

const mark = "\u0001";

async function readCommits(
  opened: OpenRepository,
  { head, most }: { readonly head: string; readonly most: number },
): Promise<readonly HistoryCommit[] | Failure> {
  const listed = await ask(opened, [
    "log",
    "--first-parent",
    "--diff-merges=first-parent",
    "--name-status",
    "--no-renames",
    "-z",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    `--max-count=${most}`,
    `--format=${mark}%H%n%P%n%B${mark}`,
    head,
  ]);
  if (isFailure(listed)) return listed;
  const parts = listed.split(mark).slice(1);
  const commits: HistoryCommit[] = [];
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const commit = readCommit(parts[i] ?? "", parts[i + 1] ?? "");
    if (commit) commits.push(commit);
  }
  return commits;
}

const statuses = { A: "added", M: "changed", T: "changed", D: "deleted" } as const;

function readCommit(head: string, listed: string): HistoryCommit | undefined {
  const [id = "", parents = "", ...message] = head.split("\n");
  const [parent] = parents.split(" ");
  if (!parent) return undefined;
  const [subject = "", ...body] = message.join("\n").trim().split("\n");
  const fields = listed
    .split("\0")
    .map((field) => field.replace(/^\n/, ""))
    .filter((field) => field !== "");
  const files: ChangedFile[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const status = statuses[fields[i] as keyof typeof statuses];
    if (status) files.push({ status, path: fields[i + 1] ?? "" });
  }
  return { id, parent, subject, body: body.join("\n").trim(), files };
}

interface Wanted {
  /** The folder that git may write to. */
  readonly writes: string;
  readonly commit: string;
  readonly folder: string;
  readonly paths?: readonly string[];
}

/**
 * Git may write in only one folder: it checks out into a new folder there, and Lathe moves the result
 * elsewhere.
 */
async function checkOut(opened: OpenRepository, wanted: Wanted): Promise<Failure | undefined> {
  const { folder, writes } = wanted;
  if (folder.startsWith(`${writes}/`)) return checkOutIn(opened, wanted);
  const passing = mkdtempSync(join(writes, "out-"));
  try {
    const failed = await checkOutIn(opened, { ...wanted, folder: passing });
    if (!failed)
      cpSync(passing, folder, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    return failed;
  } finally {
    rmSync(passing, { recursive: true, force: true });
  }
}

async function checkOutIn(
  opened: OpenRepository,
  { commit, folder, paths }: Wanted,
): Promise<Failure | undefined> {
  const asked = { index: "own", workTree: folder } as const;
  const read = await opened.run(["read-tree", commit], asked);
  if (isFailure(read)) return read;
  const which = paths ? ["--", ...paths] : ["--all"];
  const words = ["checkout-index", "--force", "--quiet", `--prefix=${folder}/`, ...which];
  const written = await opened.run(words, asked);
  return isFailure(written) ? written : undefined;
}
