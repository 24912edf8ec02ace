import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { readInstructions } from "./instructions.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lathe-instructions-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("prefers AGENTS.md and takes CLAUDE.md without it", () => {
  assert.deepEqual(readInstructions(folder), []);
  writeFileSync(join(folder, "CLAUDE.md"), "claude");
  assert.deepEqual(readInstructions(folder), [{ path: "CLAUDE.md", text: "claude" }]);
  writeFileSync(join(folder, "AGENTS.md"), "agents");
  assert.deepEqual(readInstructions(folder), [{ path: "AGENTS.md", text: "agents" }]);
});

it("cuts a long file between characters and says where the rest is", () => {
  writeFileSync(join(folder, "AGENTS.md"), `${"ä".repeat(5000)}x`);
  const text = readInstructions(folder)[0]?.text ?? "";
  assert.match(text, /^ä{4096}\n\[cut at 8192 bytes: read AGENTS\.md for the rest\]$/);
});
