/** Text features: which features requests have, and that no request takes long. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertGrowth } from "@lathe/testkit/growth";
import { textFeatures } from "./text-features.ts";

const rows: readonly (readonly [text: string, present: readonly string[], absent: readonly string[]])[] = [
  ["fix the typo in README.md", ["mechanical", "file", "short"], ["files", "trace", "question"]],
  ["What does a/b.ts:12 do with c.py?", ["ask", "files", "place", "question"], ["trace"]],
  ["it fails\nTypeError: x is undefined\n    at f (src/a.ts:3:9)", ["trace", "lines", "place"], ["question"]],
  ['Traceback (most recent call last):\n  File "a.py", line 3, in f\nKeyError: 3', ["trace", "place"], []],
  ["still fails", ["correction", "short"], ["confirm"]],
  ["yes", ["confirm", "short"], ["correction"]],
  ["The queue runs jobs twice under load; find out why", ["distributed", "speed", "why"], []],
  ["Bitte überall umbenennen", ["wide", "mechanical"], ["question"]],
  ["把日志级别改成 debug", ["foreign", "mechanical"], []],
];

describe("features of a request", () => {
  for (const [text, present, absent] of rows) {
    it(`are found in: ${text.split("\n", 1)[0]}`, () => {
      const found = textFeatures(text);
      for (const name of present) assert.ok(found[name], name);
      for (const name of absent) assert.equal(found[name], undefined, name);
    });
  }

  it("are empty for an empty request, except for its length", () => {
    assert.deepEqual(textFeatures("  "), { length: 0, short: 1 });
  });

  for (const hostile of [
    "a".repeat(1e6),
    "a/".repeat(5e5),
    "a.".repeat(5e5),
    "\n".repeat(1e6),
    "at ".repeat(3e5),
    '"'.repeat(1e6),
    "from a ".repeat(1e5),
    "a=".repeat(1e6),
    "replace ".repeat(1e5),
    'file "'.repeat(1e5),
  ]) {
    it(`are found quickly in many repetitions of ${JSON.stringify(hostile.slice(0, 8))}`, () => {
      // Only 3000 characters are read, in time linear in their number: six times as long, not thirty-six.
      assert.deepEqual(textFeatures(hostile), textFeatures(hostile.slice(0, 3000)));
      const texts = new Map([500, 3000].map((length) => [length, hostile.slice(0, length)]));
      const work = (length: number): void => {
        for (let time = 0; time < 30; time += 1) textFeatures(texts.get(length) ?? "");
      };
      assertGrowth(work, { sizes: [500, 3000], atMost: 15 });
    });
  }
});
