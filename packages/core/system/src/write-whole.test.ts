import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { Worker } from "node:worker_threads";
import { writeWhole } from "./write-whole.ts";

describe("writeWhole", () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "lathe-system-test-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("writes for this user alone, in folders that it creates, even if others could read the old file", () => {
    const path = join(folder, "a", "b", "file");
    writeWhole(path, "one\n", { isDurable: true });
    chmodSync(path, 0o644);
    writeWhole(path, "two\n");
    assert.equal(readFileSync(path, "utf8"), "two\n");
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(statSync(join(folder, "a")).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(join(folder, "a", "b")), ["file"]);
  });

  it("changes nothing if it fails", () => {
    mkdirSync(join(folder, "taken", "full"), { recursive: true });
    assert.throws(() => writeWhole(join(folder, "taken"), "text"), { code: "EISDIR" });
    writeFileSync(join(folder, "file"), "before");
    assert.throws(() => writeWhole(join(folder, "file", "below"), "text"), { code: "EEXIST" });
    assert.deepEqual(readdirSync(folder).sort(), ["file", "taken"]);
    assert.equal(readFileSync(join(folder, "file"), "utf8"), "before");
  });

  it("replaces a link, and leaves its target unchanged", () => {
    writeFileSync(join(folder, "elsewhere"), "theirs");
    symlinkSync("elsewhere", join(folder, "file"));
    writeWhole(join(folder, "file"), "ours");
    assert.equal(readFileSync(join(folder, "elsewhere"), "utf8"), "theirs");
    assert.equal(readFileSync(join(folder, "file"), "utf8"), "ours");
  });

  it("is read complete at any moment, even with other writers", async () => {
    const path = join(folder, "file");
    writeWhole(path, "0".repeat(100_000));
    const module = JSON.stringify(new URL("write-whole.ts", import.meta.url).href);
    const source = `import(${module}).then(({ writeWhole }) => {
      for (let i = 0; i < 300; i++) writeWhole(${JSON.stringify(path)}, String(i % 10).repeat(100_000));
    });`;
    const writers = [new Worker(source, { eval: true }), new Worker(source, { eval: true })];
    let running = writers.length;
    for (const writer of writers) void once(writer, "exit").then(() => running--);
    while (running > 0) {
      const text = readFileSync(path, "utf8");
      assert.equal(text.length, 100_000);
      assert.equal(text, text.charAt(0).repeat(100_000));
      await new Promise(setImmediate);
    }
    assert.deepEqual(readdirSync(folder), ["file"]);
  });

  it("says that the disk is full, and keeps the old file", (test) => {
    const disk = join(folder, "disk");
    mkdirSync(disk);
    try {
      execFileSync("sh", ["-c", `mount -t tmpfs -o size=64k none '${disk}'`], { stdio: "ignore" });
    } catch {
      return test.skip("no file system can be mounted here");
    }
    try {
      writeWhole(join(disk, "file"), "before");
      assert.throws(() => writeWhole(join(disk, "file"), "x".repeat(200_000)), { code: "ENOSPC" });
      assert.equal(readFileSync(join(disk, "file"), "utf8"), "before");
      assert.deepEqual(readdirSync(disk), ["file"]);
    } finally {
      execFileSync("sh", ["-c", `umount '${disk}'`]);
    }
  });
});
