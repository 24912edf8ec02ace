/**
 * Tests `lathe edits apply`: nasty edits written blind, corrupted edits from this repository's history, and
 * broken requests.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { type EditCase, editCases, sourcePairs } from "@lathe/testkit/edit-corpus";
import { makePlace } from "./in-process.ts";
import { judged, scoreOf } from "./judged-edits.ts";

describe("lathe edits apply", () => {
  for (const [what, file] of [
    ["nasty edits that were written without knowing it", "nasty-edits.jsonl"],
    ["edits that were hunted for knowing it", "hunted-edits.jsonl"],
  ] as const) {
    it(`is right about ${what}`, async () => {
      const lines = readFileSync(new URL(`fixtures/${file}`, import.meta.url), "utf8").split("\n");
      const cases = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as EditCase);
      const wrong = (await judged(cases)).filter(({ verdict }) => verdict !== "right");
      assert.deepEqual(
        wrong.map(({ case: one, verdict, answer }) => ({ id: one.request.id, verdict, answer })),
        [],
      );
    });
  }

  it("is right about corrupted edits of this repository's history", async (test) => {
    const { pairs, skipped } = sourcePairs(["own"], "training");
    if (pairs.length === 0) return test.skip(skipped.join("; "));
    const all = await judged(editCases(pairs, { seed: 11, each: 1 }));
    const { mustRefuse, mustApply, wrong, damaged } = scoreOf(all);
    test.diagnostic(JSON.stringify({ cases: all.length, mustRefuse, mustApply, wrong, damaged }));
    assert.ok(all.length > 250);
    assert.equal(mustRefuse.right, mustRefuse.of);
    assert.equal(wrong, 0);
    assert.ok(mustApply.right >= mustApply.of * 0.98);
    assert.ok(damaged <= all.length * 0.005);
  });

  it("answers every line, even an unreadable one", async () => {
    const place = makePlace();
    try {
      const edit = { id: 7, path: "a.txt", content: "\u2028one\r\n", format: "search_replace" };
      const lines = [
        "not json",
        "[]",
        JSON.stringify({ id: "x", path: "a", content: "b", format: "other" }),
        "",
        JSON.stringify({ ...edit, edits: [{ old_string: "one", new_string: "two" }] }),
        JSON.stringify({ ...edit, id: null, edits: [{ old_string: "six", new_string: "two" }] }),
      ];
      const { code, out } = await place.run(["edits", "apply", "--stdin-jsonl"], { input: lines.join("\n") });
      const answers = out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      assert.equal(code, 0);
      assert.deepEqual(
        answers.map(({ id, ok, code: why }) => [id, ok, why]),
        [
          [null, false, "INVALID_REQUEST"],
          [null, false, "INVALID_REQUEST"],
          ["x", false, "INVALID_REQUEST"],
          [7, true, undefined],
          [null, false, "NOT_FOUND"],
        ],
      );
      assert.equal(answers[3].content, "\u2028two\r\n");
    } finally {
      place.remove();
    }
  });
});
