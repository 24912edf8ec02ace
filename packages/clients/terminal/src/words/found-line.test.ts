/** Tests matching lines: they fit, and the first match is visible. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { fc } from "@lathe/testkit/properties";
import { palette } from "../colour/palette.ts";
import { columnsTaken } from "../text/columns.ts";
import { cutLine, foundLine } from "./found-line.ts";

const bare = palette(false);
const painted = palette(true);

describe("a found line", () => {
  it("colours the match", () => {
    const line = foundLine(
      {
        text: "\tlet ab = ab;",
        spans: [
          [5, 7],
          [10, 12],
        ],
      },
      40,
      painted,
    );
    assert.equal(stripVTControlCharacters(line), "  let ab = ab;");
    assert.equal(line.split("\u001b[31mab").length, 3, JSON.stringify(line));
  });

  it("starts later if the match would be out of sight", () => {
    const text = `${"x".repeat(100)}needle${"y".repeat(100)}`;
    assert.equal(foundLine({ text, spans: [[100, 106]] }, 30, bare), "…xxxxxxxxxxneedleyyyyyyyyyyyyy");
    assert.equal(foundLine({ text, spans: [] }, 10, bare), "xxxxxxxxxx");
    assert.equal(foundLine({ text: "漢字漢字ab", spans: [[4, 6]] }, 6, bare), "…字ab");
    assert.equal(foundLine({ text: `ab${text}`, spans: [[2, 108]] }, 8, bare), "…xxxxxxx");
  });

  it("moves no cursor", () => {
    assert.equal(foundLine({ text: "a\u001b[2Jb\u202ec", spans: [[0, 1]] }, 20, bare), "abc");
    assert.equal(cutLine("\ta\u001b[31mb", 3), "  a");
  });

  it("fits, and starts with a visible match if there is room", () => {
    const words = fc.string({ unit: fc.constantFrom("a", " ", "漢", "é", "😀", "\t"), maxLength: 60 });
    fc.assert(
      fc.property(words, fc.integer({ min: 20, max: 80 }), words, (before, width, after) => {
        const spans = [[before.length, before.length + 6]] as const;
        const line = foundLine({ text: `${before}needle${after}`, spans }, width, bare);
        assert.ok(columnsTaken(line) <= width, line);
        assert.ok(line.includes("needle"), line);
      }),
    );
  });
});
