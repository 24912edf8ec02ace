import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { nestedInstructions, readInstructions } from "./instructions.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lathe-instructions-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("prefers AGENTS.md and takes CLAUDE.md without it", () => {
  assert.deepEqual(readInstructions(folder), { texts: [], leftOut: [] });
  writeFileSync(join(folder, "CLAUDE.md"), "claude");
  assert.deepEqual(readInstructions(folder).texts, [{ path: "CLAUDE.md", text: "claude" }]);
  writeFileSync(join(folder, "AGENTS.md"), "agents");
  assert.deepEqual(readInstructions(folder).texts, [{ path: "AGENTS.md", text: "agents" }]);
});

it("cuts a long file between characters and says where the rest is", () => {
  writeFileSync(join(folder, "AGENTS.md"), `${"ä".repeat(5000)}x`);
  const text = readInstructions(folder).texts[0]?.text ?? "";
  assert.match(text, /^ä{4096}\n\[cut at 8192 bytes: read AGENTS\.md for the rest\]$/);
});

it("leaves out what leads out of the workspace, is no file, or would wait, and says so", () => {
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  writeFileSync(join(folder, "secret"), "secret");
  symlinkSync("../secret", join(workspace, "AGENTS.md"));
  execFileSync("sh", ["-c", 'mkfifo "$0"', join(workspace, "CLAUDE.md")]);
  const { texts, leftOut } = readInstructions(workspace);
  assert.deepEqual(texts, []);
  assert.match(
    leftOut.join("\n"),
    /AGENTS\.md leads out of the workspace\n.*CLAUDE\.md is not a regular file/,
  );
});

it("follows a link that stays in the workspace", () => {
  writeFileSync(join(folder, "CLAUDE.md"), "claude");
  symlinkSync("CLAUDE.md", join(folder, "AGENTS.md"));
  assert.deepEqual(readInstructions(folder).texts, [{ path: "AGENTS.md", text: "claude" }]);
});

it("gives those of folders, the outer ones first, with the rest named where they are long", async () => {
  const give = nestedInstructions(folder, async (text) => text.replace("sk-secret", "[key]"));
  for (const path of ["a/b", "c"]) mkdirSync(join(folder, path), { recursive: true });
  writeFileSync(join(folder, "a/AGENTS.md"), "outer sk-secret");
  writeFileSync(join(folder, "a/b/CLAUDE.md"), "inner");
  assert.deepEqual(await give(["a", "a/b", "c", "missing", "../x"]), [
    { path: "a/AGENTS.md", text: "outer [key]" },
    { path: "a/b/CLAUDE.md", text: "inner" },
  ]);
  const many = ["1", "2", "3", "4"].map((name) => `long${name}`);
  for (const name of many) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "AGENTS.md"), "x".repeat(8000));
  }
  assert.deepEqual(
    (await give(many)).map(({ text }) => text.length > 100),
    [true, true, true, false],
  );
});
