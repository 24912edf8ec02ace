import assert from "node:assert/strict";
import { it } from "node:test";
import { numbered } from "./numbered-lines.ts";

it("cuts a very long line, but never inside a character", () => {
  const line = `${"a".repeat(1_999)}😀 and more`;
  assert.equal(numbered([line], 1), `1\t${"a".repeat(1_999)}[... 11 characters of this line cut]`);
});
