/** Repositories for probes, made and used on the host as the user would. */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Ground, write } from "./ground.ts";

/** Runs git on the host with the user's own configuration; its exit code does not matter. */
export function hostGit(ground: Ground, cwd: string, ...args: readonly string[]): string {
  const env = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: ground.home,
    GIT_EDITOR: "true",
    GIT_TERMINAL_PROMPT: "0",
    GIT_PAGER: "cat",
  };
  const { stdout, stderr } = spawnSync("git", args, { cwd, env, encoding: "utf8", timeout: 10_000 });
  return `${stdout}${stderr}`;
}

/** A repository whose branches `main` and `side` both changed the same file, in places that merge. */
export function makeRepository(ground: Ground, folder: string = ground.workspace): void {
  const git = (...args: readonly string[]): string => hostGit(ground, folder, ...args);
  const middle = "\ntwo\nthree\nfour\nfive\nsix\n";
  const save = (first: string, last: string): void =>
    write(join(folder, "file.txt"), `${first}${middle}${last}\n`);
  mkdirSync(folder, { recursive: true });
  git("init", "--quiet");
  save("one", "seven");
  git("add", ".");
  git("commit", "--quiet", "-m", "first");
  git("switch", "--quiet", "--create", "side");
  save("ONE", "seven");
  git("commit", "--quiet", "-am", "on the side");
  git("switch", "--quiet", "main");
  save("one", "SEVEN");
  git("commit", "--quiet", "-am", "second");
}

/** Everyday work in a repository; it would start planted code. */
export function useRepository(ground: Ground, folder: string = ground.workspace): void {
  const git = (...args: readonly string[]): string => hostGit(ground, folder, ...args);
  git("status");
  git("diff", "HEAD~1");
  git("log", "-p", "-1");
  git("add", "--all", ".");
  git("commit", "--allow-empty", "-m", "by the user");
  git("stash", "--include-untracked");
  git("stash", "pop");
  git("switch", "--create", `other-${ground.tag}`);
  git("switch", "-");
  git("merge", "--no-edit", "side");
  git("submodule", "update");
  git("fetch", "--all");
  git("gc", "--quiet", "--auto");
}

/** Shell lines that create a program which records on the host, in the folder outside, that it ran. */
export function plantedProgram(ground: Ground, path: string): string {
  return `mkdir -p $(dirname ${path}); printf '#!/bin/sh\\necho ran >> ${ground.outside}/executed\\nexit 0\\n' > ${path}; chmod 755 ${path}`;
}
