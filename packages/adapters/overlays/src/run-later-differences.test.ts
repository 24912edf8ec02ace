/** Marks a fork's differences that run later, with the texts of both sides. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import type { CopyDifference } from "@lathe/protocol";
import { runLaterDifferences } from "./run-later-differences.ts";

const absent = { kind: "absent", mode: 0 } as const;
const plain = { kind: "file", mode: 0o644 } as const;
const folder = { kind: "folder", mode: 0o755 } as const;

function added(path: string, fork: CopyDifference["fork"] = plain): CopyDifference {
  return { path: Buffer.from(path).toString("latin1"), what: "added", base: absent, fork, isMoved: false };
}

it("marks the differences of a fork that run later", (test) => {
  const root = mkdtempSync(join(tmpdir(), "lathe-later-"));
  test.after(() => rmSync(root, { recursive: true }));
  const [base, upper] = [join(root, "base"), join(root, "upper")];
  for (const side of [base, upper]) mkdirSync(side);
  writeFileSync(join(base, "package.json"), '{"scripts":{"test":"t"}}');
  writeFileSync(join(upper, "package.json"), '{"scripts":{"test":"node -e 0"}}');
  const marks = runLaterDifferences(
    [
      added(".new", folder),
      added(".new/ü"),
      added(".old/b"),
      added("AGENTS.md"),
      added("a.ts"),
      added("a.sh", { kind: "file", mode: 0o755 }),
      { path: "package.json", what: "modified", base: plain, fork: plain, isMoved: false },
      { path: "Makefile", what: "deleted", base: plain, fork: absent, isMoved: false },
    ],
    { base, upper },
  );
  assert.deepEqual(Object.fromEntries(marks), {
    [Buffer.from(".new/ü").toString("latin1")]: "new hidden folder",
    "AGENTS.md": "later agent sessions follow it",
    "a.sh": "new executable",
    "package.json": "scripts: test",
  });
});
