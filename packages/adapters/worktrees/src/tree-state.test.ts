/** The state of a working tree changes with everything that would be lost with it. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, it } from "node:test";
import { repositoryPlace } from "@lathe/system/git";
import { runGitIn, succeeded } from "@lathe/testkit";
import { treeState } from "./tree-state.ts";
import { testTreesHost } from "./trees-host.test.ts";
import { openWorktree } from "./worktree.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-tree-state-")));
after(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function nested(path: string, folder: string): void {
  put(join(path, folder, "file"), "x\n");
  runGitIn(join(path, folder), "init", "-q");
  runGitIn(join(path, folder), "add", ".");
  runGitIn(join(path, folder), "commit", "-qm", "nested");
}

const works: readonly (readonly [string, (path: string) => void])[] = [
  [
    "a commit that no branch holds",
    (path) => {
      runGitIn(path, "checkout", "-q", "--detach");
      runGitIn(path, "commit", "-q", "--allow-empty", "-m", "lost");
      runGitIn(path, "checkout", "-q", "lathe/one");
    },
  ],
  ["an ignored folder", (path) => put(join(path, "dist/report"), "x\n")],
  ["an ignored file beside tracked ones", (path) => put(join(path, "data/x.env"), "x\n")],
  ["a new nested repository", (path) => nested(path, "inner")],
  ["a commit in a nested repository", (path) => runGitIn(join(path, "carried"), "tag", "new")],
  ["a file in a nested repository", (path) => put(join(path, "carried/more"), "x\n")],
  ["a repository made of a tracked folder", (path) => void runGitIn(join(path, "data"), "init", "-q")],
  [
    "a file in a submodule",
    (path) => {
      rmSync(join(path, "module"), { recursive: true });
      runGitIn(path, "clone", "-q", join(path, "carried"), "module");
    },
  ],
  ["what is only staged", (path) => runGitIn(path, "rm", "-q", "--cached", "other/staged")],
  [
    "a change that git was told not to see",
    (path) => {
      runGitIn(path, "update-index", "--assume-unchanged", "other/unseen");
      put(join(path, "other/unseen"), "changed\n");
    },
  ],
];

it("differs after each kind of work, and is equal without any", async () => {
  const top = join(root, "repo");
  put(join(top, "data/f"), "committed\n");
  put(join(top, "other/staged"), "committed\n");
  put(join(top, "other/unseen"), "committed\n");
  put(join(top, ".gitignore"), "dist/\n*.env\n");
  runGitIn(top, "init", "-q", "-b", "main");
  runGitIn(top, "add", ".");
  nested(top, "module");
  runGitIn(top, "-c", "advice.addEmbeddedRepo=false", "add", "module");
  runGitIn(top, "commit", "-qm", "first");
  nested(top, "carried");
  const host = testTreesHost(join(root, "state"));
  const { path, branch } = succeeded(await openWorktree(host, { cwd: top, name: "one", isKept: true }));
  const place = repositoryPlace(path) ?? assert.fail();
  const stateNow = async (): Promise<string> => {
    const box = succeeded(await host.openGit({ place }));
    const { gitFolder, common } = place;
    const { hash } = succeeded(await treeState(box, { path, branch, gitFolder, common }));
    await box.close();
    return hash;
  };
  let before = await stateNow();
  runGitIn(path, "status");
  assert.equal(await stateNow(), before, "the user looked at it");
  for (const [what, work] of works) {
    work(path);
    const now = await stateNow();
    assert.notEqual(now, before, what);
    before = now;
  }
  assert.equal(await stateNow(), before);
});
