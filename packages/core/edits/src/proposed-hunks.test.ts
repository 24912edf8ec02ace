/** A person sees every line that a change adds or removes, whatever it contains. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ProposedFile } from "@lathe/protocol";
import { fc } from "@lathe/testkit/properties";
import { proposedHunks } from "./proposed-hunks.ts";

const line = fc.constantFrom("a", "", "++ x", "++x", "-- y", "--y", "@@ -1 +1 @@", "\\ z", "+", "-", " ");
const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.map((one) => `${one}\n`).join(""));

/** One side of a file, reconstructed from its hunks, without equal lines that are not shown. */
function told(hunks: readonly string[], mark: string): readonly string[] {
  return hunks.flatMap((hunk) =>
    hunk
      .split("\n")
      .filter((one) => one.startsWith(mark))
      .map((one) => one.slice(1)),
  );
}

const linesOf = (whole: string): readonly string[] => whole.split("\n").slice(0, -1);

describe("proposedHunks", () => {
  it("has every line of a created or deleted file, and no names", () => {
    fc.assert(
      fc.property(text, (whole) => {
        const path = "a\n@@ -1 +1 @@";
        assert.deepEqual(told(proposedHunks({ path, after: whole } as ProposedFile), "+"), linesOf(whole));
        assert.deepEqual(told(proposedHunks({ path, before: whole } as ProposedFile), "-"), linesOf(whole));
      }),
    );
  });

  it("has the changed lines of a moved file", () => {
    const file = { path: "a", to: "b", before: "-- one\nsame\n", after: "same\n++ two\n" };
    const hunks = proposedHunks(file as ProposedFile);
    assert.deepEqual(hunks, ["@@ -1,2 +1,2 @@\n--- one\n same\n+++ two\n"]);
    assert.deepEqual(proposedHunks({ ...file, after: file.before } as ProposedFile), [""]);
  });
});
