/** What the prompt says of the machine: small, true, and the same for the whole session. */
import { readFileSync, statSync } from "node:fs";
import { release, type } from "node:os";
import { basename, join, resolve } from "node:path";

export function sessionEnvironment(
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
  now: number,
): Readonly<Record<string, string>> {
  const branch = gitBranch(cwd);
  return {
    os: `${type()} ${release()}`,
    date: localDate(now),
    shell: basename(env.SHELL || "sh"),
    cwd,
    git: branch ?? "not a repository",
  };
}

/** Year, month and day: a time would change from one session to the next and spoil the prompt cache. */
function localDate(now: number): string {
  const date = new Date(now);
  const two = (part: number): string => String(part).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Read from `.git/HEAD`: starting git would cost more than all the rest. */
function gitBranch(cwd: string): string | undefined {
  for (let at = cwd; ; at = resolve(at, "..")) {
    const head = readHead(join(at, ".git"));
    if (head !== undefined) return /^ref: refs\/heads\/(.+)/.exec(head)?.[1] ?? "detached head";
    if (at === resolve(at, "..")) return undefined;
  }
}

/** `.git` is a folder, or in a worktree a file that names it. */
function readHead(git: string): string | undefined {
  const stat = statSync(git, { throwIfNoEntry: false });
  if (!stat) return undefined;
  try {
    if (stat.isDirectory()) return readFileSync(join(git, "HEAD"), "utf8");
    const folder = /^gitdir: (.+)/.exec(readFileSync(git, "utf8"))?.[1];
    return folder && readFileSync(resolve(git, "..", folder.trim(), "HEAD"), "utf8");
  } catch {
    return undefined;
  }
}
