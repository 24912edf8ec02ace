/** Taking some hunks of a change applies exactly these and nothing else. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { hunksBetween, takeHunks } from "./take-hunks.ts";

/** Lines with any endings, the last one perhaps without. */
const ends = fc.constantFrom("\n", "\r\n", "\r\r\n");
const line = fc.tuple(fc.constantFrom("a", "b", "c", "", "\ufeffx", "\u00e9\u{1f600}"), ends);
const text = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.constantFrom("", "end", "\r"))
  .map(([lines, last]) => `${lines.map((parts) => parts.join("")).join("")}${last}`);
const change = fc.tuple(text, text).map(([before, after]) => ({ before, after }));
const picks = fc.infiniteStream(fc.boolean());

function some(count: number, picked: Iterable<boolean>): ReadonlySet<number> {
  const stream = picked[Symbol.iterator]();
  return new Set(Array.from({ length: count }, (_, at) => at).filter(() => stream.next().value === true));
}

describe("takeHunks", () => {
  it("gives the whole change for all hunks, and none for none", () => {
    fc.assert(
      fc.property(change, ({ before, after }) => {
        const all = hunksBetween(before, after).map((_, at) => at);
        assert.equal(takeHunks(before, after, new Set(all)), after);
        assert.equal(takeHunks(before, after, new Set()), before);
        assert.equal(all.length === 0, before === after);
      }),
    );
  });

  it("leaves exactly the other hunks for later", () => {
    fc.assert(
      fc.property(change, picks, ({ before, after }, picked) => {
        const count = hunksBetween(before, after).length;
        const taken = some(count, picked);
        const now = takeHunks(before, after, taken);
        const rest = new Set(Array.from({ length: count }, (_, at) => at).filter((at) => !taken.has(at)));
        const other = takeHunks(before, after, rest);
        // Line by line: each hunk's lines come from one of the two sides, without losses or duplicates.
        const lines = (one: string): number => one.split("\n").length - 1;
        assert.equal(lines(now) + lines(other), lines(before) + lines(after));
        assert.equal(takeHunks(now, after, new Set(hunksBetween(now, after).keys())), after);
      }),
    );
  });

  it("takes from a side only its own lines, with their endings", () => {
    fc.assert(
      fc.property(change, picks, ({ before, after }, picked) => {
        const now = takeHunks(before, after, some(hunksBetween(before, after).length, picked));
        const known = new Set([...before.split("\n"), ...after.split("\n")]);
        for (const one of now.split("\n")) assert.ok(known.has(one), JSON.stringify(one));
      }),
    );
  });

  it("separates changes three lines apart, and joins nearer ones", () => {
    const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    assert.equal(hunksBetween(before, before.replace("1", "one").replace("4", "four")).length, 1);
    assert.equal(hunksBetween(before, before.replace("1", "one").replace("5", "five")).length, 2);
    const after = before.replace("1", "one").replace("5", "five").replace("9", "nine");
    assert.equal(takeHunks(before, after, new Set([0, 2])), before.replace("1", "one").replace("9", "nine"));
    assert.equal(hunksBetween(before, after)[1], "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  });
});
