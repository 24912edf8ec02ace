/** A file that another process keeps replacing counts as changed, never as missing. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { Worker } from "node:worker_threads";
import { createWorkspace } from "./create-workspace.ts";

/**
 * Linux cannot link a file while its last name is being replaced, although another file has that name at
 * once.
 */
const replacing = `
  const { renameSync, writeFileSync } = require("node:fs");
  const { workerData: { file, flag } } = require("node:worker_threads");
  for (let i = 0; Atomics.load(flag, 0) === 0; i++) {
    writeFileSync(file + ".next", "theirs " + i);
    renameSync(file + ".next", file);
  }`;

it("reports a file that is being replaced as changed", async (test) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-replaced-")));
  test.after(() => rmSync(folder, { recursive: true }));
  const root = join(folder, "root");
  mkdirSync(root);
  for (const name of ["a", "b"]) writeFileSync(join(root, name), "0");
  const workspace = createWorkspace({ root, journal: join(folder, "journal") });
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(replacing, { eval: true, workerData: { file: join(root, "b"), flag } });
  const ended = new Promise((resolve) => worker.once("exit", resolve));
  try {
    for (let i = 0; i < 100; i++) {
      const [a, b] = await Promise.all([workspace.read("a"), workspace.read("b")]);
      assert.ok("text" in a && "text" in b);
      const changes = Object.entries({ a, b }).map(
        ([path, { text }]) =>
          ({ type: "put", path, expected: workspace.versionOf(text), text: `ours ${i}` }) as const,
      );
      const result = await workspace.commit(changes);
      if ("code" in result) assert.equal(result.code, "stale-version", result.text);
    }
  } finally {
    Atomics.store(flag, 0, 1);
    await ended;
    await workspace.close();
  }
});
