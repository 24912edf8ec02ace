/** Tests who could change the files between two checkpoints. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type CheckpointAttempt, failure } from "@lathe/protocol";
import { spansOf } from "./spans.ts";

/**
 * `b1` is a checkpoint before, `a2` one after; without a number it failed, and with `?` no one watched before
 * it.
 */
function kept(words: string): readonly CheckpointAttempt[] {
  return words.split(" ").map((word, seq): CheckpointAttempt => {
    const [, moment, ref = "", unsure] = /^([ab])(\d*)(\??)$/.exec(word) ?? assert.fail(word);
    return {
      seq,
      moment: moment === "b" ? "before" : "after",
      ...(ref === "" ? { failure: failure("disk-full", "full") } : { ref }),
      ...(unsure === "?" && { unsure: true }),
    };
  });
}

const spans = (words: string): readonly string[] =>
  spansOf(kept(words)).map(({ from, to, whose }) => `${from}-${to} ${whose}`);

test("between two turns, others may change the files", () => {
  assert.deepEqual(spans("b1 b2 a3 b4 a5"), ["1-3 session", "3-4 others", "4-5 session"]);
  assert.deepEqual(spans("a1 b2 a3"), ["1-2 others", "2-3 session"]);
});

test("changes by a rewind belong to the session", () => {
  assert.deepEqual(spans("b1 a2 b3 a1 b4"), ["1-2 session", "2-3 others", "3-1 session", "1-4 others"]);
});

test("unchanged files change no owner", () => {
  assert.deepEqual(spans("b1 a2 b2 a3 b4"), ["1-3 session", "3-4 others"]);
  assert.deepEqual(spans("b1 a1 b1"), []);
});

test("after a death, the author of changes is unknown", () => {
  assert.deepEqual(spans("b1 b2? a3"), ["1-2 anybody", "2-3 session"]);
  assert.deepEqual(spans("b1 a2? b3"), ["1-2 anybody", "2-3 others"]);
});

test("a failed attempt hides a change of owner", () => {
  assert.deepEqual(spans("b1 b a2"), ["1-2 session"]);
  assert.deepEqual(spans("b1 a b2 a3"), ["1-2 anybody", "2-3 session"]);
  assert.deepEqual(spans("a1 b a2"), ["1-2 anybody"]);
  assert.deepEqual(spans("b1 b? b2"), ["1-2 anybody"]);
});

test("fewer than two checkpoints give no span", () => {
  for (const words of ["b", "b1", "b a1", "b1 a", "a b1 a"]) assert.deepEqual(spans(words), [], words);
  assert.deepEqual(spansOf([]), []);
});
