/** Edits have the same key exactly where they make the same text, white space within lines aside. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { changeKeys } from "./whole-change.ts";

const normal = (text: string): string =>
  text
    .split("\n")
    .map((line) => (/^[ \t]*/.exec(line)?.[0] ?? "") + line.replace(/^[ \t]*/, "").replace(/[ \t]+/g, " "))
    .join("\n");

const text = fc
  .array(fc.constantFrom("a", "b", " ", "  ", "\n", "\n", "\t"), { maxLength: 14 })
  .map((all) => all.join(""));

it("tells edits apart as the whole texts would", () => {
  const edit = fc.tuple(
    fc.nat(14),
    fc.nat(4),
    text.map((one) => one.slice(0, 4)),
  );
  fc.assert(
    fc.property(text, edit, edit, (source, ...edits) => {
      const keyOf = changeKeys(source);
      const [one, other] = edits.map(([at, length, put]) => {
        const start = Math.min(at, source.length);
        const end = Math.min(start + length, source.length);
        const whole = normal(source.slice(0, start) + put + source.slice(end));
        const key = keyOf(start, end, put);
        assert.equal(key === undefined, whole === normal(source), JSON.stringify([source, start, end, put]));
        return { whole, key };
      });
      assert.equal(one?.key === other?.key, one?.whole === other?.whole);
    }),
    { numRuns: 3000 },
  );
});

it("takes a fraction of a second for tens of thousands of edits of a long file", () => {
  const source = Array.from({ length: 3000 }, (_, at) => `    "WORD_${at}":  tokens.Keyword.Some,`).join(
    "\n",
  );
  const keyOf = changeKeys(source);
  const keys = new Set<string | undefined>();
  for (let at = 0; at < 60_000; at++) keys.add(keyOf(at, at + 1, "#"));
  assert.ok(keys.size > 50_000);
});
