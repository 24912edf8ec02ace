/** Which parts of git's data are guarded, for repositories, worktrees and what pretends to be one. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { gitGuards } from "./git-guards.ts";

describe("git guards", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-guards-")));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const made = (path: string, text?: string): string => {
    const full = join(folder, path);
    mkdirSync(text === undefined ? full : join(full, ".."), { recursive: true });
    if (text !== undefined) writeFileSync(full, text);
    return full;
  };

  it("are none without a repository", () => {
    assert.deepEqual(gitGuards(made("plain")), { writable: [], readOnly: [] });
  });

  it("pin .git, and keep hooks and settings, also hooks that are not there yet", () => {
    const git = made("main/.git");
    made("main/.git/config", "");
    assert.deepEqual(gitGuards(join(folder, "main")), {
      writable: [git],
      readOnly: [`${git}/hooks`, `${git}/config`],
    });
  });

  it("of a worktree are those of its repository", () => {
    const git = join(folder, "main/.git");
    made("main/.git/worktrees/w/HEAD", "ref: refs/heads/w");
    made("main/.git/worktrees/w/commondir", "../..\n");
    const pointer = made("w/.git", `gitdir: ${git}/worktrees/w\n`);
    assert.deepEqual(gitGuards(join(folder, "w")), {
      writable: [git, `${git}/worktrees/w`],
      readOnly: [pointer, `${git}/hooks`, `${git}/config`],
    });
  });

  it("open no folder that only a pointer says is git's", () => {
    const pointer = made("fake/.git", "gitdir: /etc\n");
    assert.deepEqual(gitGuards(join(folder, "fake")), { writable: [], readOnly: [pointer] });
  });
});
