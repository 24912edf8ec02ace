/** The cached history is complete, also after a failure of git. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { plainGit } from "@lathe/testkit";
import { KeptHistory } from "./kept-history.ts";

it("has all commits again after git failed", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "lathe-history-"));
  t.after(() => rmSync(folder, { recursive: true, maxRetries: 5 }));
  const root = join(folder, "tree");
  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-C", root, "-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      encoding: "utf8",
    }).trim();
  execFileSync("git", ["init", "--quiet", root]);
  const commit = (path: string): string => {
    writeFileSync(join(root, path), path);
    git("add", path);
    git("commit", "--quiet", "-m", `adds ${path}`);
    return git("rev-parse", "HEAD");
  };
  const nothing = { read: () => undefined, write: () => true };
  const history = new KeptHistory(root, () => nothing, plainGit(process.env));
  commit("a");
  const head = commit("b");
  renameSync(root, `${root}-away`);
  assert.deepEqual(await history.of(head), []);
  renameSync(`${root}-away`, root);
  const parts = await history.of(commit("c"));
  assert.deepEqual(parts.flatMap(({ paths }) => paths).sort(), ["a", "b", "c"]);
});
