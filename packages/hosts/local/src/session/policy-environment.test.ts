/** The facts policy looks up about a command, in a real folder and a real repository. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { createPolicyEnvironment } from "./policy-environment.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-around-")));
});
afterEach(() => rmSync(root, { recursive: true }));

const env = { PATH: process.env.PATH, HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" };

it("reads texts, but nothing that is large, binary, a folder or a pipe", async () => {
  const { text: find, exists } = createPolicyEnvironment(root, env);
  const text = async (path: string): Promise<string | undefined> => (await find(path)).text;
  writeFileSync(join(root, "a.sh"), "ls\n");
  writeFileSync(join(root, "large"), "x".repeat(300_000));
  writeFileSync(join(root, "binary"), "a\0b");
  execFileSync("sh", ["-c", "mkfifo pipe"], { cwd: root });
  symlinkSync("gone", join(root, "dangling"));
  assert.equal(await text("a.sh"), "ls\n");
  assert.equal(await text(join(root, "a.sh")), "ls\n");
  for (const path of ["large", "binary", "pipe", ".", "none", "dangling"])
    assert.equal(await text(path), undefined, path);
  assert.deepEqual(await Promise.all(["a.sh", "dangling", "none"].map(exists)), [true, true, false]);
});

it("knows git's aliases, and which folders a checkpoint leaves out", async () => {
  assert.deepEqual(await createPolicyEnvironment(root, env).gitAliases(), {});
  const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: root, env });
  git("init", "-q");
  git("config", "alias.p", "!git push\norigin");
  writeFileSync(join(root, ".gitignore"), "data/\n*.log\n");
  mkdirSync(join(root, "data/deep"), { recursive: true });
  for (const path of ["data/deep/a", "b.log", "c"]) writeFileSync(join(root, path), "");
  const { gitAliases, uncovered } = createPolicyEnvironment(root, env);
  assert.deepEqual(await gitAliases(), { p: "!git push\norigin" });
  assert.deepEqual(await uncovered(), ["data/"]);
});

it("knows whether work is uncommitted, and assumes it is if unsure", async () => {
  const { unsaved } = createPolicyEnvironment(root, env);
  assert.equal(await unsaved(), true);
  const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: root, env });
  git("init", "-q");
  git("config", "status.showUntrackedFiles", "no");
  assert.equal(await unsaved(), false);
  writeFileSync(join(root, "a"), "1");
  assert.equal(await unsaved(), true);
  git("add", "a");
  git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a");
  assert.equal(await unsaved(), false);
  writeFileSync(join(root, "a"), "2");
  assert.equal(await unsaved(), true);
});
