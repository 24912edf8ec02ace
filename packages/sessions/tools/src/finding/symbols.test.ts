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

  it("names what it cannot outline", async () => {
    const { fails } = await bench();
    assert.match(
      await fails("not-found", "symbols", { path: "." }),
      /^the workspace cannot be read as a file/,
    );
  });

  it("says when no definition is in what it was asked for", async () => {
    const { put, ok } = await bench();
    put("a.py", "class Widget:\n    def fire(self):\n        pass\n");
    const found = "Defined:\na.py:2\tdef fire(self):";
    assert.equal(await ok("symbols", { name: "Widget.fire" }), found);
    assert.equal(await ok("symbols", { name: "Nope.fire" }), `[no fire in Nope; others:]\n${found}`);
  });
});
