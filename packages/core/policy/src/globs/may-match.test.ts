/** What a glob of the shell may stand for, held against what it does stand for. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { matchesPath } from "./glob.ts";
import { mayMatch } from "./may-match.ts";
import { escapeGlob, expandBraces, hasWildcard, unescapeGlob } from "./shell-glob.ts";

describe("mayMatch", () => {
  const cases: readonly (readonly [boolean, string, string])[] = [
    [true, "secret/**", "s*/x"],
    [true, "secret/**", "s*"],
    [true, "secret/*.pem", "secret/*"],
    [true, "secret/a?c", "*/[a-z]b*"],
    [false, "secret/**", "[abc]ecret/x"],
    [true, "secret/**", "[!abc]ecret/x"],
    [false, "secret/**", "x/s*"],
    [false, "**/*.pem", "d*"],
    [false, "**/*.pem", "d*/x.*"],
    [true, "**/*.pem", "server.p*"],
    [true, "**/*.pem", "s*.pem"],
    [true, "/etc/**", "/e*/passwd"],
    [false, "/etc/**", "e*/passwd"],
    [true, "**/.env", "a/*/.e*"],
    [false, "**/.env", "*env"],
    [false, "**/id_rsa", "keys/*"],
    [true, "**/{a,id_rsa}", "keys/id*"],
    [true, String.raw`{\*,./\*}`, "*"],
    [false, String.raw`{\*,./\*}`, "[id]"],
  ];
  for (const [expected, rule, glob] of cases)
    it(`${rule} and ${glob}: ${expected}`, () => assert.equal(mayMatch(rule, glob), expected));

  it("sees every path that both stand for, where the rule says where it lies", () => {
    const name = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 3 });
    const segment = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), minLength: 1, maxLength: 3 });
    // Within a name a shell's `**` is a star.
    const shown = segment.map((one) => one.replace(/\*+/gu, "*"));
    const pathOf = (one: typeof name) => fc.array(one, { minLength: 1, maxLength: 3 });
    const joined = (parts: readonly string[]): string => `x/${parts.join("/")}`;
    fc.assert(
      fc.property(pathOf(segment), pathOf(shown), pathOf(name), (rule, glob, path) => {
        const both = matchesPath(joined(rule), joined(path)) && matchesPath(joined(glob), joined(path));
        assert.ok(!both || mayMatch(joined(rule), joined(glob)));
      }),
      { numRuns: 2000 },
    );
  });

  it("of a name without wildcards is what the rule says of it", () => {
    const rule = fc.constantFrom("a/**", "**/{a,b*}", "a?/*", "**/a/**", "*.b");
    const path = fc.string({ unit: fc.constantFrom("a", "b", ".", "/"), minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(rule, path, (one, drawn) => {
        const tidy = drawn.split("/").filter(Boolean).join("/");
        assert.equal(mayMatch(one, tidy), matchesPath(one, tidy));
      }),
    );
  });
});

describe("globs of the shell", () => {
  it("escape and back", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const glob = escapeGlob(text);
        assert.deepEqual([unescapeGlob(glob), hasWildcard(glob), expandBraces(glob)], [text, false, [glob]]);
      }),
    );
  });

  it("expand braces as a shell does, and in doubt to a star", () => {
    const sorted = (glob: string): readonly string[] => expandBraces(glob).toSorted();
    assert.deepEqual(sorted("a{b,c{d,e}}f"), ["abf", "acdf", "acef"]);
    assert.deepEqual(sorted("{a,}{x,y}"), ["ax", "ay", "x", "y"]);
    assert.deepEqual(sorted("{a}{b\\,c}{"), ["{a}{b\\,c}{"]);
    assert.deepEqual(sorted("a{1..9}b"), ["a*b"]);
    assert.deepEqual(sorted(`a${"{b,c}".repeat(20)}d`), ["a*d"]);
  });
});
