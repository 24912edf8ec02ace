import assert from "node:assert/strict";
import { test } from "node:test";
import { survivalOf } from "./survival.ts";

const rows: readonly (readonly [
  what: string,
  texts: readonly (string | undefined)[],
  kept: number,
  of: number,
])[] = [
  ["untouched since", ["a\nb\n", "a\nx\ny\n", "a\nx\ny\n"], 2, 2],
  ["moved down", ["a\nb\n", "a\nx\n", "new\na\nx\n"], 1, 1],
  ["half rewritten", ["a\nb\n", "a\nx\ny\n", "a\nx\nz\n"], 1, 2],
  ["taken back", ["a\nb\n", "a\nx\n", "a\nb\n"], 0, 1],
  ["a removal that holds", ["a\nb\nc\n", "a\nc\n", "a\nc\nd\n"], 1, 1],
  ["a removal that was undone", ["a\nb\nc\n", "a\nc\n", "a\nb\nc\n"], 0, 1],
  ["a removal at the end", ["a\nb\n", "a\n", "a\n"], 1, 1],
  ["a new file", [undefined, "x\ny\n", "x\ny\n"], 2, 2],
  ["a new file that is gone", [undefined, "x\ny\n", undefined], 0, 2],
  ["a file that stays deleted", ["a\n", undefined, undefined], 1, 1],
  ["a file that came back", ["a\n", undefined, "a\n"], 0, 1],
  ["other line endings", ["a\nb\n", "a\nx\n", "a\r\nx\r\n"], 1, 1],
];
for (const [what, [original, final, later], kept, of] of rows) {
  test(what, () => assert.deepEqual(survivalOf({ original, final, later }), { kept, of }));
}
