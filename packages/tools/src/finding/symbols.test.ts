import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bench } from "../bench.test.ts";

describe("symbols", () => {
  it("says what was not searched, as grep does", async () => {
    const { put, ok } = await bench();
    put("a.js", `function pour() {}\n${"a".repeat(5_000_000)}\n`);
    const text = await ok("symbols", { name: "pour" });
    assert.equal(text, "No pour found.\n[not searched, their lines are too long: a.js]");
  });
});
