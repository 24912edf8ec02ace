/** Globs of rules: matching takes linear time, even if a project's rule is hostile. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { assertGrowth } from "@lathe/testkit/growth";
import { matchesPath, matchesText } from "./glob.ts";

it("a rule takes linear time over any path or command", () => {
  const globs = [
    `${"*a".repeat(17)}*b`,
    `${"{a,aa,}".repeat(30)}b`,
    `${"**/".repeat(12)}b`,
    `${"**a".repeat(9)}b`,
  ];
  for (const glob of globs) {
    for (const matches of [matchesPath, matchesText]) {
      const work = (size: number): boolean => matches(glob, "a".repeat(size));
      assertGrowth(work, { sizes: [2_000, 32_000], atMost: 64, name: glob });
    }
  }
});

it("braces are choices, also among stars", () => {
  for (const [glob, path, expected] of [
    ["{a,b*}/**/*.ts", "bc/x/y.ts", true],
    ["{a,b*}/**/*.ts", "c/x.ts", false],
    ["**/{a,}b{c,d}{e,f}", "x/bce", true],
  ] as const)
    assert.equal(matchesPath(glob, path), expected, glob);
});
