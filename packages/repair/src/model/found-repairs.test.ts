/** The report of `try_mutations`, read back. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { foundRepairs } from "./found-repairs.ts";

const line = (path: string, description: string, edit: object): string =>
  `1. ${path} ${description}\n${JSON.stringify(edit)}`;

describe("foundRepairs", () => {
  it("reads edits of any text and path, best first", () => {
    const edit = { path: "my app/a b.py", old: 'if "x":\n\treturn 1', new: "" };
    const report = `Tried 3 edits:\n${line("my app/a b.py:12", "delete it: now", edit)}\n${line("c.js:1", "x", { path: "c.js", old: "a", new: "b" })}`;
    assert.deepEqual(foundRepairs(report), [
      { ...edit, description: "delete it: now", where: "my app/a b.py:12" },
      { path: "c.js", old: "a", new: "b", description: "x", where: "c.js:1" },
    ]);
  });

  it("reads nothing from other words, and from half an edit", () => {
    assert.deepEqual(foundRepairs("No edit found: 3 of 3 candidates tried."), []);
    assert.deepEqual(foundRepairs(""), []);
    assert.deepEqual(foundRepairs(line("a.py:1", "x", { path: "a.py", old: "a" })), []);
    assert.deepEqual(foundRepairs("1. a.py:1 x\n{broken}"), []);
  });
});
