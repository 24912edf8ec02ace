import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { openPassingScratch, openScratchFolder, type ScratchFolder } from "./scratch-folder.ts";

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

it("for what has no session, goes with the next one of its kind when its process was killed", () => {
  const temp = mkdtempSync(join(tmpdir(), "lathe-scratch-test-"));
  const module = new URL("scratch-folder.ts", import.meta.url).href;
  const script = `const { openPassingScratch } = await import(${JSON.stringify(module)});
    for (const kind of ["tool", "other"]) openPassingScratch(kind, ${JSON.stringify(temp)});
    process.kill(process.pid, "SIGKILL");`;
  const { signal } = spawnSync(process.execPath, ["--input-type=module", "-e", script]);
  const left = readdirSync(temp);
  const own = [1, 2].map(() => openPassingScratch("tool", temp));
  assert.deepEqual([signal, left.length], ["SIGKILL", 2]);
  assert.ok(own.every((one) => !isFailure(one)));
  const isOther = (name: string): boolean => name.startsWith("lathe-other-");
  const now = readdirSync(temp);
  assert.deepEqual(now.filter(isOther), left.filter(isOther));
  assert.deepEqual(now.filter((name) => !isOther(name)).length, 2);
  rmSync(temp, { recursive: true });
});
