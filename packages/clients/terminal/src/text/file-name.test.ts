/** Tests file names on one line. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { fileName } from "./file-name.ts";

it("is unchanged, or quoted like git if it would break the line or control the terminal", () => {
  assert.equal(fileName("src/a b é.ts"), "src/a b é.ts");
  assert.equal(fileName("a\n  D b"), '"a\\n  D b"');
  assert.equal(fileName('t\t"q"\\'), '"t\\t\\"q\\"\\\\"');
  assert.equal(fileName("\u001b[31mx\u202e"), '"\\033[31mx\\342\\200\\256"');
});
