/** Files of over 2 GiB in an attempt's working tree: minutes of hashing on a busy machine. */
import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { runGitIn } from "@lathe/testkit";
import { testTreesHost } from "../trees-host.test.ts";
import { makeAttemptTree } from "./attempt-tree.ts";
import { keepTree } from "./keep-tree.ts";

it("carries a file of over 2 GiB, and holds back one that should be applied", async (test) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-attempt-tree-")));
  test.after(() => rmSync(root, { recursive: true, force: true }));
  const cwd = join(root, "work");
  const host = testTreesHost(join(root, "state"));
  mkdirSync(cwd);
  writeFileSync(join(cwd, "a"), "1\n");
  runGitIn(cwd, "init", "-q");
  runGitIn(cwd, "add", ".");
  runGitIn(cwd, "commit", "-qm", "first");
  writeFileSync(join(cwd, "long"), "");
  truncateSync(join(cwd, "long"), 2 ** 31);
  const tree = await makeAttemptTree(host, { cwd, about: "a test", session: "s-1" });
  assert.ok(!isFailure(tree), isFailure(tree) ? tree.text : "");
  truncateSync(join(tree.path, "a"), 2 ** 31);
  const kept = await keepTree(host, tree, { hostRun: false, force: false });
  assert.ok(!isFailure(kept), isFailure(kept) ? kept.text : "");
  assert.deepEqual([...kept.held], [["a", "it is too long: over 2 GiB"]]);
  assert.equal(readFileSync(join(cwd, "a"), "utf8"), "1\n");
});
