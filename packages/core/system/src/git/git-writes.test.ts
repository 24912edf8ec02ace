/** Whatever Lathe's own code writes into a repository, git must read back. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { linkedTrees, linkTree, unlinkTree } from "./linked-trees.ts";
import { readHead, readRef } from "./ref-files.ts";
import { repositoryPlace } from "./repository-place.ts";
import { createRef, deleteRef } from "./write-ref.ts";

describe("a repository that is written without git", () => {
  let root = "";
  let top = "";
  let common = "";
  let commit = "";

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-git-writes-")));
    top = join(root, "repo");
    common = join(top, ".git");
    mkdirSync(top);
    git("init", "-q", "-b", "main");
    writeFileSync(join(top, "a.txt"), "one\n");
    git("add", ".");
    git("commit", "-qm", "first");
    commit = git("rev-parse", "HEAD").trim();
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const git = (...args: readonly string[]): string => runGitIn(top, ...args);
  const branches = (): string => git("for-each-ref", "--format=%(refname)", "refs/heads");

  it("gets a new branch only if no other ref is in its way", async () => {
    assert.equal(await createRef(common, "refs/heads/lathe/one", commit), "done");
    assert.equal(await createRef(common, "refs/heads/lathe/one", commit), "exists");
    assert.equal(await createRef(common, "refs/heads/lathe", commit), "in-the-way");
    assert.equal(await createRef(common, "refs/heads/lathe/one/two", commit), "in-the-way");
    git("pack-refs", "--all");
    assert.equal(await createRef(common, "refs/heads/lathe/one", commit), "exists");
    assert.equal(await createRef(common, "refs/heads/lathe", commit), "in-the-way");
    assert.equal(await createRef(common, "refs/heads/main/two", commit), "in-the-way");
    for (const name of ["refs/heads/../x", "refs/heads/a..b", "HEAD", "refs/heads/.x", "refs/heads/x.lock"])
      assert.equal(await createRef(common, name, commit), "in-the-way", name);
    assert.equal(branches(), "refs/heads/lathe/one\nrefs/heads/main\n");
    assert.equal(readRef(common, "refs/heads/lathe/one"), commit);
  });

  it("loses a branch that is a separate file, packed, or both", async () => {
    await createRef(common, "refs/heads/lathe/one", commit);
    git("tag", "-a", "-m", "tag", "v1");
    git("pack-refs", "--all", "--no-prune");
    assert.equal(await deleteRef(common, "refs/heads/lathe/one"), "done");
    assert.equal(branches(), "refs/heads/main\n");
    assert.equal(git("rev-parse", "v1^{commit}").trim(), commit);
    assert.equal(await deleteRef(common, "refs/heads/lathe/one"), "done");
    git("fsck", "--strict");
  });

  it("stays unchanged while git holds a lock", async () => {
    mkdirSync(join(common, "refs/heads/lathe"));
    writeFileSync(join(common, "refs/heads/lathe/one.lock"), "");
    assert.equal(await createRef(common, "refs/heads/lathe/one", commit), "locked");
    assert.equal(await deleteRef(common, "refs/heads/lathe/one"), "locked");
  });

  it("is not written through a link out of it", async () => {
    const outside = join(root, "outside");
    mkdirSync(outside);
    symlinkSync(outside, join(common, "refs/heads/lathe"));
    assert.equal(await createRef(common, "refs/heads/lathe/one", commit), "in-the-way");
    assert.ok(!existsSync(join(outside, "one")));
  });

  it("adds and removes a linked working tree", async () => {
    const path = join(root, "one");
    mkdirSync(path);
    await createRef(common, "refs/heads/lathe/one", commit);
    const gitFolder = linkTree(common, { path, head: { ref: "refs/heads/lathe/one" } });
    assert.deepEqual(linkedTrees(common), [
      { gitFolder, path, head: { ref: "refs/heads/lathe/one", commit }, isLocked: false },
    ]);
    assert.match(
      git("worktree", "list", "--porcelain"),
      new RegExp(`worktree ${path}\nHEAD ${commit}\nbranch refs/heads/lathe/one`),
    );
    runGitIn(path, "reset", "--hard", "-q");
    assert.equal(runGitIn(path, "status", "--porcelain"), "");
    assert.deepEqual(repositoryPlace(path), { top: path, gitFolder, common });
    assert.deepEqual(readHead({ gitFolder, common }), { ref: "refs/heads/lathe/one", commit });
    const other = join(root, "other/one");
    mkdirSync(other, { recursive: true });
    assert.equal(linkTree(common, { path: other, head: { commit } }), join(common, "worktrees/one1"));
    unlinkTree(common, join(common, "worktrees/one1"));
    unlinkTree(common, gitFolder);
    assert.equal(git("worktree", "list").trim().split("\n").length, 1);
    assert.ok(!existsSync(join(common, "worktrees")));
  });

  it("does not treat an unknown folder as its working tree", () => {
    const path = join(root, "hostile");
    mkdirSync(path);
    writeFileSync(join(path, ".git"), `gitdir: ${common}\n`);
    assert.equal(repositoryPlace(path), undefined);
  });
});

function runGitIn(cwd: string, ...args: readonly string[]): string {
  const who = ["-c", "user.name=T", "-c", "user.email=t@localhost"];
  const own = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  return execFileSync("git", [...who, ...args], { cwd, encoding: "utf8", env: { ...process.env, ...own } });
}
