/** What the prompt says of the machine: small, true, and the same for the whole session. */
import { release, type } from "node:os";
import { basename, join, resolve } from "node:path";
import { isFailure } from "@lathe/protocol";
import { readRegularFile } from "../places/regular-file.ts";
import { gitSummary } from "./git-summary.ts";

export async function sessionEnvironment(
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
  now: number,
): Promise<Readonly<Record<string, string>>> {
  const { branch, root = cwd } = gitBranch(cwd) ?? {};
  const { changes, instructions } = branch === undefined ? {} : await gitSummary({ cwd, root }, env);
  return {
    os: `${type()} ${release()}`,
    date: localDate(now),
    shell: basename(env.SHELL || "sh"),
    cwd,
    git: branch === undefined ? "not a repository" : [branch, ...(changes ? [changes] : [])].join("; "),
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

function textOf(path: string): string | undefined {
  const file = readRegularFile(path, 4096);
  return file && !isFailure(file) ? new TextDecoder().decode(file.bytes) : undefined;
}
