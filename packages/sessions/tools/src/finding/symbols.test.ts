import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bench } from "../bench.test.ts";

describe("symbols", () => {
  it("reports unsearched files, as grep does", async () => {
    const { put, ok } = await bench();
    put("a.js", `function pour() {}\n${"a".repeat(5_000_000)}\n`);
    const text = await ok("symbols", { name: "pour" });
    assert.equal(text, "No pour found.\n[not searched, their lines are too long: a.js]");
  });

  it("names files it cannot outline", async () => {
    const { fails } = await bench();
    assert.match(
      await fails("not-found", "symbols", { path: "." }),
      /^the workspace cannot be read as a file/,
    );
  });

  it("reports that the requested path has no definitions", async () => {
    const { put, ok } = await bench();
    put("a.py", "class Widget:\n    def fire(self):\n        pass\n");
    const found = "Defined:\na.py:2\tdef fire(self):";
    assert.equal(await ok("symbols", { name: "Widget.fire" }), found);
    assert.equal(await ok("symbols", { name: "Nope.fire" }), `[no fire in Nope; others:]\n${found}`);
  });
});
