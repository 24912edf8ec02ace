/** Tests which files are read as text, and how much of them. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { readFileText } from "./file-text.ts";

const folder = mkdtempSync(join(tmpdir(), "lathe-file-text-"));
after(() => rmSync(folder, { recursive: true }));

const at = (name: string): string => join(folder, name);

it("reads a regular file or a link's target, with the digest of the same bytes", () => {
  writeFileSync(at("a.sh"), "échо\n");
  symlinkSync("a.sh", at("link"));
  const digest = createHash("sha256").update("échо\n").digest("hex");
  for (const name of ["a.sh", "link"])
    assert.deepEqual(readFileText(at(name), 100), { text: "échо\n", digest });
  writeFileSync(at("empty"), "");
  assert.equal(readFileText(at("empty"), 100)?.text, "");
});

it("gives the digest of a file that is not text", () => {
  writeFileSync(at("binary"), "a\0b");
  const digest = createHash("sha256").update("a\0b").digest("hex");
  assert.deepEqual(readFileText(at("binary"), 100), { text: undefined, digest });
});

it("reads no large file, folder, pipe, device, kernel file or missing file", () => {
  writeFileSync(at("large"), "x".repeat(101));
  mkdirSync(at("sub"));
  execFileSync("mkfifo", [at("pipe")]);
  symlinkSync("/dev/zero", at("zero"));
  symlinkSync("/proc/self/environ", at("environ"));
  symlinkSync("loop", at("loop"));
  for (const name of ["large", "sub", "pipe", "zero", "environ", "loop", "none", "large/x"])
    assert.equal(readFileText(at(name), 100), undefined, name);
});
