/** What the prompt says of the machine: small, true, and the same for the whole session. */
import { existsSync } from "node:fs";
import { release, type } from "node:os";
import { basename, join, relative, resolve } from "node:path";
import { isFailure } from "@lathe/protocol";
import { readRegularFile } from "../places/regular-file.ts";
import { createLocalRepository } from "../repository/local-repository.ts";
import { gitSummary } from "./git-summary.ts";

export async function sessionEnvironment(
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
  now: number,
): Promise<Readonly<Record<string, string>>> {
  const { branch, root = cwd } = gitBranch(cwd) ?? {};
  const { changes, instructions } =
    branch === undefined ? {} : await gitSummary(cwd, createLocalRepository(cwd, env));
  const missing = branch === undefined ? "" : missingSubmodules({ cwd, root });
  return {
    os: `${type()} ${release()}`,
    date: localDate(now),
    shell: basename(env.SHELL || "sh"),
    cwd,
    git: branch === undefined ? "not a repository" : [branch, ...(changes ? [changes] : [])].join("; "),
    ...(missing !== "" && { "submodules that are not checked out": missing }),
    ...(instructions && { "more instructions, to be read before work in their folders": instructions }),
  };
}

/** Year, month and day: a time would change from one session to the next and spoil the prompt cache. */
function localDate(now: number): string {
  const date = new Date(now);
  const two = (part: number): string => String(part).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Read from `.git/HEAD`: starting git would cost more than all the rest. */
function gitBranch(cwd: string): { readonly branch: string; readonly root: string } | undefined {
  for (let root = cwd; ; root = resolve(root, "..")) {
    const head = readHead(join(root, ".git"));
    if (head !== undefined)
      return { branch: /^ref: refs\/heads\/(.+)/.exec(head)?.[1] ?? "detached head", root };
    if (root === resolve(root, "..")) return undefined;
  }
}

/** `.git` is a folder, or in a worktree a file that names it. */
function readHead(git: string): string | undefined {
  const head = textOf(join(git, "HEAD"));
  if (head !== undefined) return head;
  const folder = /^gitdir: (.+)/.exec(textOf(git) ?? "")?.[1];
  return folder && textOf(resolve(git, "..", folder.trim(), "HEAD"));
}

const namedSubmodules = 20;

interface GitPlace {
  readonly cwd: string;
  /** The folder of its repository. */
  readonly root: string;
}

/** What is put there is in no commit of the repository, as in a working tree that was made of it. */
function missingSubmodules({ cwd, root }: GitPlace): string {
  const text = textOf(join(root, ".gitmodules"), longestModules) ?? "";
  const paths = [...text.matchAll(/^\s*path\s*=\s*(.+?)\s*$/gm)].map(([, path = ""]) => path);
  const missing = paths.filter((path) => !existsSync(join(root, path, ".git")));
  const names = missing.slice(0, namedSubmodules).map((path) => relative(cwd, join(root, path)));
  return [...names, ...(missing.length > names.length ? ["..."] : [])].join(", ");
}

const longestModules = 65_536;

function textOf(path: string, most = 4096): string | undefined {
  const file = readRegularFile(path, most);
  return file && !isFailure(file) ? new TextDecoder().decode(file.bytes) : undefined;
}
