/**
 * After a crash at any moment a commit is complete or absent; `commit-crash.full.test.ts` crashes its
 * recovery, too.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkStates, files, options, put, record, several, versionOf } from "./crashed-commits.test.ts";

describe("a crash", () => {
  it("leaves a single file old or new", async (t) => {
    const script = await record(files, [
      [put("a.txt", "a", "A longer text")],
      [put("n.txt", null, "n")],
      [{ type: "delete", path: "c.txt", expected: versionOf("c") }],
      [put("a.txt", "A longer text", "")],
    ]);
    const count = await checkStates(script, options);
    t.diagnostic(`${count} states`);
    assert.ok(count > 100);
  });

  it("leaves several files all old or all new", async (t) => {
    const script = await record(files, [several]);
    const count = await checkStates(script, options);
    t.diagnostic(`${count} states`);
    assert.ok(count > 300);
  });

  it("leaves a commit after a commit", async (t) => {
    const script = await record({ "a.txt": "a", "b.txt": "b" }, [
      [put("a.txt", "a", "1"), put("b.txt", "b", "1")],
      [put("a.txt", "1", "2")],
      [
        put("a.txt", "2", "3"),
        put("x/y.txt", null, "3"),
        { type: "delete", path: "b.txt", expected: versionOf("1") },
      ],
      [put("b.txt", null, "1"), put("a.txt", "3", "1")],
    ]);
    const count = await checkStates(script, { ...options, tears: 1 });
    t.diagnostic(`${count} states`);
    assert.ok(count > 300);
  });
});
