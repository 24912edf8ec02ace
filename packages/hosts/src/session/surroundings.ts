/** What policy looks up around a command on this machine: files it names, git's aliases, what git ignores. */
import { lstat, readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Surroundings } from "@lathe/agent";
import { askGit } from "./ask-git.ts";

/** Longer scripts are not read: they count as the project's code. */
const mostBytes = 256 * 1024;
const patienceMs = 2_000;

export function createSurroundings(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Surroundings {
  let aliases: Promise<Readonly<Record<string, string>>> | undefined;
  return {
    exists: (path) => exists(resolve(root, path)),
    text: (path) => textOf(resolve(root, path)),
    gitAliases: () => {
      aliases ??= readAliases(root, env);
      return aliases;
    },
    uncovered: async () => {
      const listed = await askGit(["ls-files", "-oi", "--exclude-standard", "--directory", "-z"], {
        cwd: root,
        env,
        patienceMs,
      });
      // A checkpoint holds files that git ignores, but not whole folders of them.
      return listed.split("\0").filter((path) => path.endsWith("/"));
    },
    unsaved: async () => {
      const listed = await askGit(["status", "--porcelain", "--branch", "--untracked-files=normal"], {
        cwd: root,
        env,
        patienceMs,
      });
      // The first line tells of the branch; without it nothing was learned.
      return listed.trimEnd().split("\n").length !== 1 || !listed.startsWith("## ");
    },
  };
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENOENT";
  }
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    const stats = await stat(path);
    // A pipe would be waited for.
    if (!stats.isFile() || stats.size > mostBytes) return undefined;
    const text = await readFile(path, "utf8");
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

async function readAliases(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Readonly<Record<string, string>>> {
  const listed = await askGit(["config", "-z", "--get-regexp", "^alias\\."], { cwd: root, env, patienceMs });
  const pairs = listed.split("\0").flatMap((entry): readonly (readonly [string, string])[] => {
    const at = entry.indexOf("\n");
    return at < 0 ? [] : [[entry.slice("alias.".length, at), entry.slice(at + 1)]];
  });
  return Object.fromEntries(pairs);
}
