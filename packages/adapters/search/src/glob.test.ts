/** Globs over paths: what each kind matches, and that none of them takes long. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { assertGrowth } from "@lathe/testkit/growth";
import { globMatcher } from "./glob.ts";

it("a glob takes linear time over a name, whatever it holds", () => {
  const globs = [
    `${"*a".repeat(17)}*b`,
    `${"{a,*a}".repeat(12)}b`,
    `${"**/".repeat(12)}b`,
    `!${"*?".repeat(20)}b`,
    `${"{a,aa,}".repeat(30)}b`,
  ];
  for (const glob of globs) {
    const matches = globMatcher(glob);
    assertGrowth((size) => matches("a".repeat(size)), { sizes: [2_000, 32_000], atMost: 64, name: glob });
    assertGrowth((size) => matches("a/".repeat(size)), { sizes: [2_000, 32_000], atMost: 64, name: glob });
  }
});

it("what is too long, or has braces too deep in each other, is no glob", () => {
  for (const glob of ["a".repeat(5_000), "{".repeat(100) + "}".repeat(100), "{a,{b}", "[b-a]"])
    assert.throws(() => globMatcher(glob), SyntaxError);
  assert.equal(globMatcher("{a,{b,c{d,e}}}.ts")("x/ce.ts"), true);
});
