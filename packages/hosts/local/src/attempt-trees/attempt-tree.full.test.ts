/** Files of over 2 GiB in an attempt's working tree: minutes of hashing on a busy machine. */
import assert from "node:assert/strict";
import { readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { runGitIn } from "@lathe/testkit";
import { makeBench } from "../session-bench.test.ts";
import { makeAttemptTree } from "./attempt-tree.ts";
import { keepTree } from "./keep-tree.ts";

it("carries a file of over 2 GiB, and holds back one that is to be taken over", async (test) => {
  const bench = makeBench("attempt-tree");
  test.after(() => bench.remove());
  const { env, cwd } = bench;
  bench.put("a", "1\n");
  runGitIn(cwd, "init", "-q");
  runGitIn(cwd, "add", ".");
  runGitIn(cwd, "commit", "-qm", "first");
  bench.put("long", "");
  truncateSync(join(cwd, "long"), 2 ** 31);
  const tree = await makeAttemptTree(env, { cwd, about: "a test", session: "s-1" });
  assert.ok(!isFailure(tree), isFailure(tree) ? tree.text : "");
  truncateSync(join(tree.path, "a"), 2 ** 31);
  const kept = await keepTree(env, tree, { hostRun: false, force: false });
  assert.ok(!isFailure(kept), isFailure(kept) ? kept.text : "");
  assert.deepEqual([...kept.held], [["a", "it is too long: over 2 GiB"]]);
  assert.equal(readFileSync(join(cwd, "a"), "utf8"), "1\n");
});
