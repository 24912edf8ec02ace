/**
 * Patterns match the same texts as the equivalent regular expression, in linear time even if the expression
 * is slower.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertGrowth } from "@lathe/testkit/growth";
import { fc } from "@lathe/testkit/properties";
import { compileAutomaton } from "./automaton.ts";
import { either, many, one, type Part, type Pattern, text } from "./pattern.ts";
import { patternMatcher } from "./pattern-matcher.ts";

const letters = ["a", "b", "/", ".", "é", "😀", "\n"];
const classes = [".", "[^/]", "[a-b]", "[^/b]"];
const { part } = fc.letrec<{ part: Part }>((tie) => ({
  part: fc.oneof(
    { depthSize: "small" },
    fc.array(fc.constantFrom(...letters), { maxLength: 2 }).map((of) => text(of.join(""))),
    fc.constantFrom(...classes).map(one),
    fc.constantFrom(...classes).map(many),
    fc
      .array(fc.array(tie("part"), { maxLength: 2 }), { minLength: 1, maxLength: 3 })
      .map((choices) => either(...choices)),
  ),
}));
const anyPattern = fc.array(part, { maxLength: 4 });
const anyText = fc.array(fc.constantFrom(...letters, "c"), { maxLength: 8 }).map((all) => all.join(""));

function sourceOf(pattern: Pattern): string {
  return pattern
    .map((of) => {
      if (of.type === "text") return of.text.replaceAll(/[./]/g, "\\$&");
      if (of.type === "either") return `(?:${of.of.map(sourceOf).join("|")})`;
      return of.type === "one" ? of.of : `${of.of}*`;
    })
    .join("");
}

describe("a pattern", () => {
  it("matches what an equivalent regular expression matches, short or long", () => {
    fc.assert(
      fc.property(anyPattern, fc.array(anyText, { minLength: 1, maxLength: 8 }), (pattern, texts) => {
        const [matches, automaton] = [patternMatcher(pattern), compileAutomaton(pattern)];
        const expression = new RegExp(`^(?:${sourceOf(pattern)})$`, "su");
        for (const of of [...texts, ...texts]) {
          assert.equal(matches(of), expression.test(of), `${expression} ${JSON.stringify(of)}`);
          assert.equal(automaton(of), expression.test(of), `${expression} ${JSON.stringify(of)}`);
        }
      }),
    );
  });

  it("still matches after it has read more than its cache holds", () => {
    const matches = compileAutomaton([
      many("."),
      text("a"),
      ...Array.from({ length: 14 }, () => one(".")),
      text("b"),
    ]);
    let seed = 1;
    const letter = (): string => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % 3 > 0 ? "a" : "c";
    };
    for (let i = 0; i < 300; i += 1) {
      const of = Array.from({ length: 40 }, letter).join("");
      assert.equal(matches(`${of}b`), of.at(-15) === "a", of);
    }
  });

  it("rejects an invalid class on creation", () => {
    assert.throws(() => patternMatcher([one("[b-a]")]), SyntaxError);
    assert.throws(
      () => patternMatcher([...Array.from({ length: 50 }, () => many(".")), one("[b-a]")]),
      SyntaxError,
    );
  });

  it("takes linear time, whatever runs and choices it has", () => {
    const runs = Array.from({ length: 17 }, () => [many("[^/]"), text("a")]).flat();
    const choices = Array.from({ length: 24 }, () => either([text("a")], [text("a"), text("a")], []));
    const hostile: readonly Pattern[] = [
      [...runs, text("b")],
      [...choices, many("."), ...choices, text("b")],
      Array.from({ length: 12 }, () => either([many("."), text("a/")], [])),
      [many("."), many("."), many("."), many("."), text("b")],
    ];
    for (const pattern of hostile) {
      const matches = patternMatcher(pattern);
      const work = (size: number): boolean => matches("a".repeat(size));
      assertGrowth(work, { sizes: [2_000, 32_000], atMost: 64 });
      const short = (size: number): boolean => matches("a".repeat(size));
      assertGrowth(short, { sizes: [25, 400], atMost: 400, name: "short ones" });
    }
  });
});
