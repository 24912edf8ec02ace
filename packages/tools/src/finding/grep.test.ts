import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bench } from "../bench.test.ts";

describe("grep", () => {
  it("says which files it could not search, beside that there is no match", async () => {
    const { put, ok } = await bench();
    put("a.txt", `${"a".repeat(40_000)}\n`);
    const text = await ok("grep", { pattern: "(?:(?=a)a+)+b|zz" });
    assert.match(text, /^No match for .*\n\n\[not searched:\nrg: .*a\.txt: .*limit exceeded\]$/);
  });

  it("says that a binary file matches", async () => {
    const { put, ok } = await bench();
    put("nul.c", "int needle;\n\0 tail\n");
    const text = await ok("grep", { pattern: "needle", path: "nul.c" });
    assert.equal(text, "No match for needle.\n\n[binary, their matches are not shown: nul.c]");
  });
});
