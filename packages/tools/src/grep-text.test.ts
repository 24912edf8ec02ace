import assert from "node:assert/strict";
import { it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { grepText, type TextQuery } from "./grep-text.ts";

const plain: TextQuery = { pattern: "", literal: false, ignoreCase: false, context: 0, limit: 100 };
const numbers = (text: string, query: Partial<TextQuery>): readonly number[] => {
  const found = grepText(text, { ...plain, ...query });
  assert.ok(!isFailure(found));
  return found.lines.map(({ line, match }) => (match ? line : -line));
};

it("finds lines as ripgrep would, with those around them", () => {
  const text = "one\ntwo.\nthree\nTWO.\nfive\n";
  assert.deepEqual(numbers(text, { pattern: "^t" }), [2, 3]);
  assert.deepEqual(numbers(text, { pattern: "two.", literal: true, ignoreCase: true }), [2, 4]);
  assert.deepEqual(numbers(text, { pattern: "(?i)^two" }), [2, 4]);
  assert.deepEqual(numbers(text, { pattern: "three", context: 1 }), [-2, 3, -4]);
  assert.deepEqual(numbers(text, { pattern: "nothing" }), []);
  const cut = grepText(text, { ...plain, pattern: ".", limit: 2 });
  assert.ok(!isFailure(cut) && cut.more && cut.lines.length === 2);
});

it("refuses what is no pattern, and stops one that goes in circles", () => {
  for (const pattern of ["(", "(a+)+$"]) {
    const found = grepText(`${"a".repeat(40)}!\n`, { ...plain, pattern });
    assert.ok(isFailure(found) && found.code === "search-failed", pattern);
  }
});
