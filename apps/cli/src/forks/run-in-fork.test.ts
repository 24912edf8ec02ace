/** Tests the arguments of the run inside a fork. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { innerArgs } from "./run-in-fork.ts";

it("passes on all arguments except those about the fork and the folder", () => {
  const rows: readonly (readonly [readonly string[], readonly string[]])[] = [
    [["--fork", "task"], ["task"]],
    [
      ["--fork", "--keep", "--model", "m", "task"],
      ["--model", "m", "task"],
    ],
    [["--cwd", "there", "--fork", "task"], ["task"]],
    [["--cwd=there", "--fork", "do --fork things"], ["do --fork things"]],
    [
      ["--fork", "--", "--keep", "--cwd", "x"],
      ["--", "--keep", "--cwd", "x"],
    ],
  ];
  for (const [given, inner] of rows) assert.deepEqual(innerArgs(given), inner);
});
