import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { isWatchable, TreeWatch } from "./tree-watch.ts";

it("has heard only a part where many events of another tree fill the queue that both have", async (t) => {
  const roots = ["quiet", "busy"].map((name) => mkdtempSync(join(tmpdir(), `lathe-${name}-`)));
  const [quiet, busy] = roots as [string, string];
  const watches = isWatchable(quiet) ? roots.map((root) => new TreeWatch(root)) : [];
  t.after(() => {
    for (const watch of watches) watch.close();
    for (const root of roots) rmSync(root, { recursive: true });
  });
  const [heard] = watches;
  if (!heard) return t.skip("changes are not heard of here");
  for (const watch of watches) await watch.follow(() => false);
  writeFileSync(join(quiet, "one"), "");
  assert.deepEqual(await heard.drain(), { paths: new Set(["one"]), isPartial: false });
  for (let n = 0; n < 4_100; n++) writeFileSync(join(busy, `${n}`), "");
  assert.equal((await heard.drain()).isPartial, true);
  assert.equal((await heard.drain()).isPartial, false);
});
