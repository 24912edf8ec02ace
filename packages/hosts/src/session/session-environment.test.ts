import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { sessionEnvironment } from "./session-environment.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lathe-environment-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const noon = new Date(2026, 10, 20, 12).getTime();

it("says the day, not the time, and the shell's name", async () => {
  const { date, shell } = await sessionEnvironment(folder, { SHELL: "/usr/bin/zsh" }, noon);
  assert.deepEqual([date, shell], ["2026-11-20", "zsh"]);
});

it("finds the branch of the repository around the folder", async () => {
  mkdirSync(join(folder, ".git"));
  mkdirSync(join(folder, "sub"));
  writeFileSync(join(folder, ".git", "HEAD"), "ref: refs/heads/feature/x\n");
  assert.equal((await sessionEnvironment(join(folder, "sub"), {}, noon)).git, "feature/x");
});

it("follows the file of a worktree, and knows a detached head", async () => {
  mkdirSync(join(folder, "real"));
  writeFileSync(join(folder, "real", "HEAD"), "86390a5d\n");
  writeFileSync(join(folder, ".git"), "gitdir: real\n");
  assert.equal((await sessionEnvironment(folder, {}, noon)).git, "detached head");
});

it("does not wait for a pipe in the place of a file of git", async () => {
  mkdirSync(join(folder, ".git"));
  execFileSync("sh", ["-c", 'mkfifo "$0"', join(folder, ".git", "HEAD")]);
  mkdirSync(join(folder, "sub"));
  execFileSync("sh", ["-c", 'mkfifo "$0"', join(folder, "sub", ".git")]);
  assert.equal((await sessionEnvironment(join(folder, "sub"), {}, noon)).git, "not a repository");
});

it("says which submodules are not checked out", async () => {
  mkdirSync(join(folder, ".git"));
  writeFileSync(join(folder, ".git", "HEAD"), "ref: refs/heads/main\n");
  const modules = ["lib", "deep/er", "there"].map((path) => `[submodule "${path}"]\n\tpath = ${path}\n`);
  writeFileSync(join(folder, ".gitmodules"), modules.join(""));
  mkdirSync(join(folder, "there", ".git"), { recursive: true });
  const said = await sessionEnvironment(folder, {}, noon);
  assert.equal(said["submodules that are not checked out"], "lib, deep/er");
});

it("says what is changed, the latest first, and where further instructions are", async () => {
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-C", folder, ...args], { stdio: "ignore" });
  git("init", "-b", "main");
  for (const name of ["a.ts", "b.ts", "c.ts"]) writeFileSync(join(folder, name), "1\n");
  mkdirSync(join(folder, "pkg"));
  writeFileSync(join(folder, "pkg", "AGENTS.md"), "be kind\n");
  git("add", ".");
  git("-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-m", "first");
  const { PATH } = process.env;
  const clean = await sessionEnvironment(folder, { PATH }, noon);
  assert.equal(clean.git, "main");
  assert.deepEqual(Object.values(clean).at(-1), "pkg/AGENTS.md");
  writeFileSync(join(folder, "a.ts"), "2\n");
  writeFileSync(join(folder, "c.ts"), "2\n");
  writeFileSync(join(folder, "new.ts"), "2\n");
  utimesSync(join(folder, "a.ts"), 1000, 1000);
  assert.equal(
    (await sessionEnvironment(folder, { PATH }, noon)).git,
    "main; 2 changed (c.ts, a.ts), 1 untracked",
  );
});
