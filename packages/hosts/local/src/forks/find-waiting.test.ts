/** An id that is cut short never decides between a fork and a working tree by itself. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, it } from "node:test";
import { makeFork } from "@lathe/overlays/fork";
import { type Failure, isFailure } from "@lathe/protocol";
import { runGitIn } from "@lathe/testkit";
import { makeAttemptTree } from "../attempt-trees/attempt-tree.ts";
import { forksFolder } from "../places/state-folder.ts";
import { findWaiting, type Waiting } from "./find-waiting.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-waiting-")));
const cwd = join(root, "project");
const env = { PATH: process.env.PATH, HOME: root, XDG_STATE_HOME: join(root, "state") };
before(() => {
  mkdirSync(cwd);
  writeFileSync(join(cwd, "a"), "1\n");
  runGitIn(cwd, "init", "-q");
  runGitIn(cwd, "add", ".");
  runGitIn(cwd, "commit", "-qm", "first");
});
after(() => rmSync(root, { recursive: true }));

const idOf = (found: Waiting | Failure): string =>
  isFailure(found)
    ? `${found.code}: ${found.text}`
    : found.type === "fork"
      ? `fork ${found.fork.id}`
      : `tree ${found.tree.id}`;
const find = (start: string): string => idOf(findWaiting(env, start));

it("finds one among forks and working trees, and none where several begin so", async () => {
  assert.match(find("2"), /^invalid-arguments: there is no fork 2; `lathe fork list` shows/);
  const tree = await makeAttemptTree(env, { cwd, about: "a", session: "s" });
  assert.ok(!isFailure(tree), JSON.stringify(tree));
  const shared = tree.id.slice(0, -1);
  assert.equal(find(shared), `tree ${tree.id}`);

  const folder = forksFolder(env);
  mkdirSync(folder, { recursive: true });
  const ids = ["x", "y"].map((end) => `${shared}${end === tree.id.at(-1) ? "z" : end}`);
  const [one = "", two = ""] = ids;
  makeFork(cwd, { folder, id: one, about: "b" });
  assert.match(
    find(shared),
    /^invalid-arguments: a fork and a working tree begin with .*`lathe fork list` shows them$/,
  );
  assert.deepEqual([find(tree.id), find(one)], [`tree ${tree.id}`, `fork ${one}`]);
  makeFork(cwd, { folder, id: two, about: "c" });
  assert.match(find(shared), /^invalid-arguments: 2 forks begin with /);
  assert.deepEqual(ids.map(find), [`fork ${one}`, `fork ${two}`]);
});
