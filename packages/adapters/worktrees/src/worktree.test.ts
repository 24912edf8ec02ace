/** Nothing outside a working tree changes, and no tree with work in it is removed. */
import assert from "node:assert/strict";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { runGitIn } from "@lathe/testkit";
import { testTreesHost } from "./trees-host.test.ts";
import type { TreesHost } from "./trees-host.ts";
import { openWorktree, type Worktree, type WorktreeWish } from "./worktree.ts";

describe("openWorktree", () => {
  let root = "";
  let top = "";
  let elsewhere = "";

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-worktree-")));
    top = join(root, "repo");
    elsewhere = join(root, "elsewhere");
    put(join(top, "data/f"), "committed\n");
    put(join(top, "data/sub/g"), "committed\n");
    put(join(top, ".gitignore"), "dist/\n*.env\n");
    put(join(elsewhere, "f"), "theirs\n");
    put(join(elsewhere, "sub/g"), "theirs\n");
    git("init", "-q", "-b", "main");
    git("add", ".");
    git("commit", "-qm", "first");
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function host(): TreesHost {
    return testTreesHost(join(root, "state"));
  }
  function put(path: string, text: string): void {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  function git(...args: readonly string[]): string {
    return runGitIn(top, ...args);
  }
  async function open(wish: Partial<WorktreeWish> = {}): Promise<Worktree> {
    const opened = await openWorktree(host(), { cwd: top, name: "one", ...wish });
    assert.ok(!isFailure(opened), isFailure(opened) ? opened.text : "");
    return opened;
  }
  async function refusal(wish: Partial<WorktreeWish> = {}): Promise<string> {
    const opened = await openWorktree(host(), { cwd: top, name: "one", ...wish });
    return isFailure(opened) ? opened.text : "opened";
  }
  function assertTheirsIsThere(): void {
    assert.equal(readFileSync(join(elsewhere, "f"), "utf8"), "theirs\n");
    assert.equal(readFileSync(join(elsewhere, "sub/g"), "utf8"), "theirs\n");
  }

  for (const isStaged of [true, false]) {
    it("omits files that a sparse checkout omits", async () => {
      put(join(top, "other/h"), "committed\n");
      git("add", ".");
      git("commit", "-qm", "second");
      git("sparse-checkout", "set", "--cone", "data");
      const { path } = await open();
      assert.equal(existsSync(join(path, "data/f")), true);
      assert.equal(existsSync(join(path, "other")), false);
      assert.equal(runGitIn(path, "status", "--porcelain"), "");
      assert.match(runGitIn(path, "sparse-checkout", "list"), /^data$/m);
      git("worktree", "remove", path);
    });

    it(`carries a link in place of a folder, not its target's files (${isStaged ? "" : "not "}staged)`, async () => {
      rmSync(join(top, "data"), { recursive: true });
      symlinkSync(elsewhere, join(top, "data"));
      if (isStaged) git("add", "-A");
      const { path } = await open();
      assertTheirsIsThere();
      assert.ok(lstatSync(join(path, "data")).isSymbolicLink());
    });

    it(`carries a folder in place of a link, without ignored files (${isStaged ? "" : "not "}staged)`, async () => {
      rmSync(join(top, "data"), { recursive: true });
      symlinkSync(elsewhere, join(top, "data"));
      git("add", "-A");
      git("commit", "-qm", "link");
      rmSync(join(top, "data"));
      put(join(top, "data/f"), "mine\n");
      put(join(top, "data/x.env"), "ignored\n");
      if (isStaged) git("add", "-A");
      const { path } = await open();
      assertTheirsIsThere();
      assert.equal(readFileSync(join(path, "data/f"), "utf8"), "mine\n");
      assert.equal(existsSync(join(path, "data/x.env")), false);
    });
  }

  it("can be made beside a working tree that another git is making or left incomplete", async () => {
    const entry = join(top, ".git/worktrees/theirs");
    put(join(entry, "gitdir"), `${root}/theirs/.git\n`);
    put(join(entry, "HEAD"), `${git("rev-parse", "HEAD")}\n`);
    put(join(entry, "commondir"), "");
    const { path } = await open();
    assert.equal(readFileSync(join(path, "data/f"), "utf8"), "committed\n");
    assert.ok(existsSync(entry));
  });

  it("makes no folder behind a link, and leaves nothing", async () => {
    git("rm", "-rq", "data");
    symlinkSync(elsewhere, join(top, "data"));
    git("add", "-A");
    git("commit", "-qm", "link");
    rmSync(join(top, "data"));
    mkdirSync(join(top, "data/here"), { recursive: true });
    assert.match(await refusal({ cwd: join(top, "data/here"), dirty: "leave" }), /no folder data.here/);
    assert.equal(existsSync(join(elsewhere, "here")), false);
    assert.equal(existsSync(`${top}.worktrees`), false);
    assert.equal(git("branch", "--list", "lathe/*"), "");
  });

  const nested = (path: string, folder: string): void => {
    put(join(path, folder, "file"), "x\n");
    runGitIn(join(path, folder), "init", "-q");
    runGitIn(join(path, folder), "add", ".");
    runGitIn(join(path, folder), "commit", "-qm", "nested");
  };
  it("keeps a tree with only a new ignored file", async () => {
    const { path, settle } = await open();
    put(join(path, "dist/report"), "x\n");
    assert.equal(await settle(), true);
    assert.equal(existsSync(path), true);
  });

  it("removes a tree with carried work, a nested repository and a submodule if nothing changed", async () => {
    nested(top, "module");
    git("-c", "advice.addEmbeddedRepo=false", "add", "module");
    git("commit", "-qm", "module");
    nested(top, "carried");
    put(join(top, "data/f"), "changed\n");
    const { path, settle, carried } = await open();
    assert.equal(carried.length, 2);
    runGitIn(path, "status");
    assert.equal(await settle(), false);
    assert.equal(existsSync(`${top}.worktrees`), false);
    assert.equal(git("branch", "--list", "lathe/*"), "");
  });

  it("removes a clean tree if nothing changed, and keeps it if it cannot be removed", async () => {
    const first = await open();
    git("worktree", "lock", first.path);
    assert.ok(isFailure(await first.settle()));
    assert.ok(existsSync(join(first.path, "data/f")));
    git("worktree", "unlock", first.path);
    assert.equal(await first.settle(), false);
    assert.equal(existsSync(`${top}.worktrees`), false);
  });

  it("keeps a tree that another session has joined", async () => {
    const first = await open();
    const second = await open();
    assert.equal(second.isNew, false);
    assert.equal(await first.settle(), true);
    assert.equal(existsSync(second.cwd), true);
    await open();
  });

  it("leaves the tree to the session that made it, of two that begin together", async () => {
    const wish = { cwd: top, name: "one" };
    const opened = await Promise.all([openWorktree(host(), wish), openWorktree(host(), wish)]);
    assert.ok(opened.some((one) => !isFailure(one) && one.isNew));
    assert.ok(existsSync(join(`${top}.worktrees`, "one/data/f")));
  });

  it("does not continue in a tree whose creation was interrupted", async () => {
    const path = join(`${top}.worktrees`, "one");
    git("worktree", "add", "-q", "-b", "lathe/one", path);
    assert.match(await refusal(), /cut off .*git worktree remove --force \S+one; git branch -D lathe\/one/);
    assert.equal(existsSync(join(path, "data/f")), true);
  });

  it("does not continue in a tree that claims to belong to another repository", async () => {
    const { path } = await open();
    mkdirSync(join(root, "other"));
    runGitIn(join(root, "other"), "init", "-q");
    writeFileSync(join(path, ".git"), `gitdir: ${join(root, "other/.git")}\n`);
    assert.match(await refusal(), /no working tree of/);
  });

  it("accepts a separate git folder, but not one that a foreign .git leads to", async () => {
    const apart = join(root, "apart");
    git("init", "-q", "--separate-git-dir", apart);
    const made = await open();
    assert.equal(readFileSync(join(made.path, "data/f"), "utf8"), "committed\n");
    assert.equal(git("branch", "--list", "lathe/*").trim(), "+ lathe/one");
    const forged = join(root, "forged");
    put(join(forged, ".git"), `gitdir: ${apart}\n`);
    assert.match(await refusal({ cwd: forged, name: "two" }), /config core\.worktree/);
    assert.equal(existsSync(join(root, "forged.worktrees")), false);
  });
});
