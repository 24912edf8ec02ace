import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
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

it("says the day, not the time, and the shell's name", () => {
  const { date, shell } = sessionEnvironment(folder, { SHELL: "/usr/bin/zsh" }, noon);
  assert.deepEqual([date, shell], ["2026-11-20", "zsh"]);
});

it("finds the branch of the repository around the folder", () => {
  mkdirSync(join(folder, ".git"));
  mkdirSync(join(folder, "sub"));
  writeFileSync(join(folder, ".git", "HEAD"), "ref: refs/heads/feature/x\n");
  assert.equal(sessionEnvironment(join(folder, "sub"), {}, noon).git, "feature/x");
});

it("follows the file of a worktree, and knows a detached head", () => {
  mkdirSync(join(folder, "real"));
  writeFileSync(join(folder, "real", "HEAD"), "86390a5d\n");
  writeFileSync(join(folder, ".git"), "gitdir: real\n");
  assert.equal(sessionEnvironment(folder, {}, noon).git, "detached head");
});

it("does not wait for a pipe in the place of a file of git", () => {
  mkdirSync(join(folder, ".git"));
  execFileSync("sh", ["-c", 'mkfifo "$0"', join(folder, ".git", "HEAD")]);
  mkdirSync(join(folder, "sub"));
  execFileSync("sh", ["-c", 'mkfifo "$0"', join(folder, "sub", ".git")]);
  assert.equal(sessionEnvironment(join(folder, "sub"), {}, noon).git, "not a repository");
});
