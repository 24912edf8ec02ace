/** Which git data is guarded, for repositories, worktrees and folders that pretend to be one. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { gitGuards, repositoryAbove } from "./git-guards.ts";

describe("git guards", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-guards-")));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const home = join(folder, "home");
  const made = (path: string, text?: string): string => {
    const full = join(folder, path);
    mkdirSync(text === undefined ? full : join(full, ".."), { recursive: true });
    if (text !== undefined) writeFileSync(full, text);
    return full;
  };

  it("are empty without a repository", () => {
    assert.deepEqual(gitGuards(made("plain"), home), { writable: [], readOnly: [], links: [] });
  });

  it("pin .git and protect the hooks, also before there are any", () => {
    const git = made("main/.git");
    made("main/.git/config", "");
    assert.deepEqual(gitGuards(join(folder, "main"), home), {
      writable: [git],
      readOnly: [`${git}/hooks`],
      links: [],
    });
  });

  it("protect the hooks of submodules at any depth", () => {
    const git = made("super/.git");
    for (const name of ["one", "deep/two", "one/modules/inner"]) {
      made(`super/.git/modules/${name}/HEAD`, "ref: refs/heads/main");
      made(`super/.git/modules/${name}/hooks`);
    }
    const sealed = gitGuards(join(folder, "super"), home).readOnly.toSorted();
    const own = ["deep/two", "one", "one/modules/inner"].map((name) => `${git}/modules/${name}/hooks`);
    assert.deepEqual(sealed, [`${git}/hooks`, ...own]);
  });

  it("include links in place of hooks, and their targets in the workspace", () => {
    const git = made("linked/.git");
    const inside = made("linked/.githooks");
    symlinkSync("../.githooks", join(git, "hooks"));
    assert.deepEqual(gitGuards(join(folder, "linked"), home), {
      writable: [git],
      readOnly: [inside],
      links: [`${git}/hooks`],
    });
  });

  it("of a worktree are those of its repository", () => {
    const git = join(folder, "main/.git");
    made("main/.git/worktrees/w/HEAD", "ref: refs/heads/w");
    made("main/.git/worktrees/w/commondir", "../..\n");
    const pointer = made("w/.git", `gitdir: ${git}/worktrees/w\n`);
    made("main/.git/worktrees/w/gitdir", `${pointer}\n`);
    assert.deepEqual(gitGuards(join(folder, "w"), home), {
      writable: [git, `${git}/worktrees/w`],
      readOnly: [pointer, `${git}/hooks`],
      links: [],
    });
  });

  it("of a subfolder are those of its repository, but never of one that contains the home", () => {
    const git = made("whole/.git");
    made("whole/.git/HEAD", "ref: refs/heads/main");
    const part = made("whole/packages/part");
    assert.deepEqual(gitGuards(part, home), { writable: [git], readOnly: [`${git}/hooks`], links: [] });
    assert.deepEqual(gitGuards(part, join(folder, "whole/home")).writable, []);
    assert.equal(repositoryAbove(part, home), join(folder, "whole"));
  });

  it("open no folder just because a pointer names it", () => {
    const pointer = made("fake/.git", "gitdir: /etc\n");
    assert.deepEqual(gitGuards(join(folder, "fake"), home), { writable: [], readOnly: [pointer], links: [] });
  });

  it("open no repository whose worktree is another folder", () => {
    const git = join(folder, "main/.git");
    const pointer = made("thief/.git", `gitdir: ${git}/worktrees/w\n`);
    assert.deepEqual(gitGuards(join(folder, "thief"), home), {
      writable: [],
      readOnly: [pointer],
      links: [],
    });
  });

  it("of a submodule are those of its git folder, if that names it as its worktree", () => {
    const own = join(folder, "super/.git/modules/one");
    const pointer = made("super/one/.git", `gitdir: ${own}\n`);
    assert.deepEqual(gitGuards(join(folder, "super/one"), home).writable, []);
    writeFileSync(join(own, "config"), "[core]\n\tworktree = ../../../one\n");
    assert.deepEqual(gitGuards(join(folder, "super/one"), home).writable, [own]);
    assert.ok(gitGuards(join(folder, "super/one"), home).readOnly.includes(pointer));
  });
});
