import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { openScratchFolder } from "./scratch-folder.ts";

it("is closed to others, used again after a crash, and removed with all in it", () => {
  const first = openScratchFolder("test-scratch-a");
  assert.equal(statSync(first.path).mode & 0o777, 0o700);
  mkdirSync(join(first.path, "sub"));
  writeFileSync(join(first.path, "sub", "file"), "x");
  const again = openScratchFolder("test-scratch-a");
  assert.equal(again.path, first.path);
  again.remove();
  again.remove();
  assert.equal(existsSync(first.path), false);
});

it("does not trust a folder that others can write", () => {
  const first = openScratchFolder("test-scratch-b");
  chmodSync(first.path, 0o777);
  const other = openScratchFolder("test-scratch-b");
  assert.notEqual(other.path, first.path);
  for (const { path } of [first, other]) rmSync(path, { recursive: true });
});
