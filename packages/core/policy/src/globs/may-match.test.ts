/** Compares the paths that a shell glob may stand for with its real expansions. */
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

  it("finds every path that both match, if the rule names its folder", () => {
    const name = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 3 });
    const segment = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), minLength: 1, maxLength: 3 });
    // Inside a name, a shell's `**` is a star.
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

  it("equals the rule's own match for a name without wildcards", () => {
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
  it("can be escaped and unescaped", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const glob = escapeGlob(text);
        assert.deepEqual([unescapeGlob(glob), hasWildcard(glob), expandBraces(glob)], [text, false, [glob]]);
      }),
    );
  });

  it("expand braces as a shell does, or to a star if in doubt", () => {
    const sorted = (glob: string): readonly string[] => expandBraces(glob).toSorted();
    assert.deepEqual(sorted("a{b,c{d,e}}f"), ["abf", "acdf", "acef"]);
    assert.deepEqual(sorted("{a,}{x,y}"), ["ax", "ay", "x", "y"]);
    assert.deepEqual(sorted("{a}{b\\,c}{"), ["{a}{b\\,c}{"]);
    assert.deepEqual(sorted("a{1..9}b"), ["a*b"]);
    assert.deepEqual(sorted(`a${"{b,c}".repeat(20)}d`), ["a*d"]);
  });
});
