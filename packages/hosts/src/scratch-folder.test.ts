import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { openScratchFolder, type ScratchFolder } from "./scratch-folder.ts";

function opened(session: string): ScratchFolder {
  const folder = openScratchFolder(session);
  assert.ok(!isFailure(folder));
  return folder;
}

it("is closed to others, used again after a crash, and removed with all in it", () => {
  const first = opened("test-scratch-a");
  assert.equal(statSync(first.path).mode & 0o777, 0o700);
  mkdirSync(join(first.path, "sub"));
  writeFileSync(join(first.path, "sub", "file"), "x");
  const again = opened("test-scratch-a");
  assert.equal(again.path, first.path);
  assert.deepEqual([first.isFound, again.isFound], [false, true]);
  again.remove();
  again.remove();
  assert.equal(existsSync(first.path), false);
});

it("does not trust a folder that others can write", () => {
  const first = opened("test-scratch-b");
  chmodSync(first.path, 0o777);
  const other = opened("test-scratch-b");
  assert.notEqual(other.path, first.path);
  for (const { path } of [first, other]) rmSync(path, { recursive: true });
});

it("says which folder it cannot be made in, and what to do", () => {
  const failed = openScratchFolder("test-scratch-c", "/no/such/folder");
  assert.ok(isFailure(failed));
  assert.match(failed.text, /\/no\/such\/folder \(ENOENT\); set TMPDIR/);
});
