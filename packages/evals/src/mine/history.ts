/** History: a repository's commits and files, read with a git folder of our own, so that nothing of its settings runs. */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { noPrograms, noSurroundings } from "@lathe/system/git-settings";

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
  /** Newest first, along first parents: a merge is one change. Without the first commit. */
  commits(most: number): Promise<readonly HistoryCommit[] | Failure>;
  /** Writes the files of a commit into an empty folder. */
  checkOut(commit: string, folder: string): Promise<Failure | undefined>;
  /** Writes some files of a commit over what is in the folder. */
  checkOutFiles(commit: string, paths: readonly string[], folder: string): Promise<Failure | undefined>;
  /** The change of some files from a commit to another, as `git apply` takes it. */
  patch(from: string, to: string, paths: readonly string[]): Promise<string | Failure>;
}

interface Git {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** `own`: an empty folder for git's data; `path`: the variable PATH. */
export async function openHistory(
  repository: string,
  { own, path }: { readonly own: string; readonly path: string },
): Promise<History | Failure> {
  const env = { PATH: path, LC_ALL: "C", ...noSurroundings };
  const places = ["--path-format=absolute", "--git-path", "objects", "--git-path", "shallow"];
  const found = await git({ cwd: repository, env }, ["rev-parse", "HEAD^{commit}", ...places]);
  if (isFailure(found)) return withoutCommits({ cwd: repository, env }, found);
  const [head = "", objects = "", shallow = ""] = found.split("\n");
  mkdirSync(join(own, "objects", "info"), { recursive: true });
  mkdirSync(join(own, "refs"), { recursive: true });
  writeFileSync(join(own, "HEAD"), `${head}\n`);
  writeFileSync(join(own, "objects", "info", "alternates"), `${objects}\n`);
  copyIfThere(shallow, join(own, "shallow"));
  const mine: Git = { cwd: own, env: { ...env, GIT_DIR: own } };
  return {
    commits: (most) => readCommits(mine, most),
    checkOut: (commit, folder) => checkOut(mine, { commit, folder }),
    checkOutFiles: (commit, paths, folder) => checkOut(mine, { commit, folder, paths }),
    patch: (from, to, paths) =>
      git(mine, [
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--binary",
        from,
        to,
        "--",
        ...paths,
      ]),
  };
}

function copyIfThere(from: string, to: string): void {
  try {
    writeFileSync(to, readFileSync(from));
  } catch {
    // Most repositories are whole.
  }
}

const mark = "\u0001";

async function readCommits(mine: Git, most: number): Promise<readonly HistoryCommit[] | Failure> {
  const listed = await git(mine, [
    "log",
    ...["--first-parent", "--diff-merges=first-parent", "--name-status", "--no-renames", "-z"],
    ...["--no-color", "--no-ext-diff", "--no-textconv", `--max-count=${most}`],
    `--format=${mark}%H%n%P%n%B${mark}`,
    "HEAD",
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
  readonly commit: string;
  readonly folder: string;
  readonly paths?: readonly string[];
}

async function checkOut(mine: Git, { commit, folder, paths }: Wanted): Promise<Failure | undefined> {
  const index = {
    ...mine,
    env: { ...mine.env, GIT_INDEX_FILE: join(mine.cwd, "index"), GIT_WORK_TREE: folder },
  };
  const read = await git(index, ["read-tree", commit]);
  if (isFailure(read)) return read;
  const which = paths ? ["--", ...paths] : ["--all"];
  const written = await git(index, ["checkout-index", "--force", "--quiet", `--prefix=${folder}/`, ...which]);
  return isFailure(written) ? written : undefined;
}

/** Why there is no last commit. */
async function withoutCommits(asked: Git, found: Failure): Promise<Failure> {
  // Git itself could not be run.
  if (found.who === "host") return found;
  const isRepository = !isFailure(await git(asked, ["rev-parse", "--git-dir"]));
  const why = isRepository ? "has no commit yet" : "is no git repository";
  return failure("not-found", `${asked.cwd} ${why}: tasks are made of a history`, {
    who: "user",
    cause: found.text,
  });
}

/** What git prints. */
function git({ cwd, env }: Git, args: readonly string[]): Promise<string | Failure> {
  return new Promise((resolve) => {
    const child = spawn("git", ["--no-pager", ...noPrograms, ...args], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const out: Buffer[] = [];
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    child.on("error", (cause) =>
      resolve(
        failure("not-found", `git cannot be run in ${cwd}; is it installed, and is that a folder?`, {
          who: "host",
          cause,
        }),
      ),
    );
    child.on("close", (status) => {
      if (status === 0) return resolve(Buffer.concat(out).toString());
      resolve(
        failure("not-found", `git ${args[0]} ended with ${status} in ${cwd}: ${said.trim().slice(0, 400)}`, {
          who: "user",
        }),
      );
    });
  });
}
