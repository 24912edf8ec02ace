import assert from "node:assert/strict";
import { it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { headOf, tailOf } from "./cut-text.ts";

it("keeps as much of a text as fits, without half a surrogate pair", () => {
  assert.equal(headOf("ab😀c", 2), "ab");
  assert.equal(headOf("ab😀c", 3), "ab");
  assert.equal(headOf("ab😀c", 4), "ab😀");
  assert.equal(tailOf("ab😀c", 2), "c");
  assert.equal(tailOf("ab😀c", 3), "😀c");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat(40), (text, chars) => {
      for (const part of [headOf(text, chars), tailOf(text, chars)]) {
        assert.ok(part.isWellFormed() && part.length <= chars);
        assert.ok(part.length >= Math.min(text.length, chars) - 1);
      }
    }),
  );
});
