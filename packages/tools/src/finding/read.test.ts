import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bench } from "../bench.test.ts";

describe("read", () => {
  it("says what is wrong with a range", async () => {
    const { put, fails } = await bench();
    put("a.txt", "1\n2\n3\n");
    const problem = (ranges: unknown) => fails("invalid-arguments", "read", { path: "a.txt", ranges });
    assert.match(await problem([[3, 2]]), /\[3, 2\] ends before it begins/);
    assert.match(
      await problem([
        [1, 2],
        [0, 0],
      ]),
      /\[0, 0\] is before the first line/,
    );
    assert.match(await problem([[7, 9]]), /there are only 3 lines/);
  });

  it("knows how other agents name the lines they want", async () => {
    const { put, ok, fails } = await bench();
    put("a.txt", "1\n2\n3\n4\n");
    const lines = async (asked: object) =>
      (await ok("read", { path: "a.txt", ...asked }))
        .split("\n")
        .flatMap((line) => /^\d/.exec(line) ?? [])
        .join("");
    assert.equal(await lines({ offset: 2, limit: 2 }), "23");
    assert.equal(await lines({ offset: "3" }), "34");
    assert.equal(await lines({ limit: 1 }), "1");
    assert.equal(await lines({ offset: 0, limit: 2 }), "12");
    assert.equal(await lines({ start_line: 3, end_line: 3 }), "3");
    assert.equal(await lines({ end_line: 2 }), "12");
    assert.equal(await lines({ ranges: [[4, 4]], offset: 1 }), "4");
    assert.match(
      await fails("invalid-arguments", "read", { path: "a.txt", start_line: 3, end_line: 2 }),
      /ends before/,
    );
  });
});
