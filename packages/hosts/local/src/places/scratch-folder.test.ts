import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { isFailure } from "@lathe/protocol";
import type { ScratchFolder } from "@lathe/sessions";
import { openPassingScratch, openScratchFolder } from "./scratch-folder.ts";

function opened(session: string): ScratchFolder {
  const folder = openScratchFolder(session);
  assert.ok(!isFailure(folder));
  return folder;
}

it("is closed to others, reused after a crash, and removed with its contents", () => {
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

it("reports the folder in which it cannot be created, and a fix", () => {
  const failed = openScratchFolder("test-scratch-c", "/no/such/folder");
  assert.ok(isFailure(failed));
  assert.match(failed.text, /\/no\/such\/folder \(ENOENT\); set TMPDIR/);
});

it("outside a session, the next one of its kind removes it if its process was killed", () => {
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

it("is created and removed despite read-only folders and other users' folders that a killed process left", () => {
  const temp = realpathSync(mkdtempSync(join(tmpdir(), "lathe-scratch-test-")));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chmodSync(temp, 0o777);
  const module = new URL("scratch-folder.ts", import.meta.url).href;
  // The root user may remove anything.
  const asUser = (script: string) => {
    const text = `const { openPassingScratch } = await import(${JSON.stringify(module)});
      const { chmodSync, existsSync, mkdirSync, writeFileSync } = await import("node:fs");
      if (${isRoot}) { process.setgroups([]); process.setgid(65534); process.setuid(65534); }
      const scratch = openPassingScratch("tool", ${JSON.stringify(temp)});
      const cache = scratch.path + "/go/pkg";
      mkdirSync(cache, { recursive: true });
      writeFileSync(cache + "/mod.go", "");
      chmodSync(cache, 0o555);
      ${script}`;
    return spawnSync(process.execPath, ["--input-type=module", "-e", text], { encoding: "utf8" });
  };
  for (const _ of [1, 2]) assert.equal(asUser('process.kill(process.pid, "SIGKILL");').signal, "SIGKILL");
  // The second one has removed the first one's folder.
  const [left = "", ...more] = readdirSync(temp);
  assert.deepEqual(more, []);
  if (isRoot) {
    mkdirSync(join(temp, left, "root's"), { mode: 0o700 });
    writeFileSync(join(temp, left, "root's/file"), "x");
  }
  const ended = asUser("scratch.remove(); process.stdout.write(String(existsSync(scratch.path)));");
  assert.deepEqual([ended.stdout, ended.stderr], ["false", ""]);
  assert.deepEqual(readdirSync(temp), isRoot ? [left] : []);
  rmSync(temp, { recursive: true });
});
