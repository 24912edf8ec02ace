/** Matching against many globs at once. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { anyGlobMatcher } from "./any-glob.ts";
import { globMatcher } from "./glob.ts";

const name = fc.constantFrom("a", "b.ts", ".env", "a-b", "+", "", "[x]", "ü.md", "**");
const piece = fc.constantFrom(
  "*",
  "**",
  "a",
  "?",
  "[a-b]",
  "[+-0]",
  "[]+-0]",
  "a[!]+-0]b",
  "[!a]",
  "{a,.env}",
  "{a/b,b.ts}",
  ".env",
  "*.ts",
  "a*b",
  "a**",
  "\\[x\\]",
  "ü*",
);
const glob = fc
  .tuple(
    fc.constantFrom("", "", "", "!", "./", "/", "**/"),
    fc.array(piece, { minLength: 1, maxLength: 4 }),
    fc.constantFrom("", "", "/", "/**"),
  )
  .map(([first, pieces, last]) => first + pieces.join("/") + last);

it("many globs match the same as each alone, also when asked repeatedly", () => {
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
  fc.assert(
    fc.property(
      fc.array(glob, { maxLength: 4 }),
      fc.array(path, { minLength: 1, maxLength: 6 }),
      (globs, paths) => {
        const each = globs.map(globMatcher);
        const any = anyGlobMatcher(globs);
        for (const one of [...paths, ...paths])
          assert.equal(
            any(one),
            each.some((matches) => matches(one)),
            `${one} of ${globs.join(" ")}`,
          );
      },
    ),
  );
});

it("an invalid glob among others is refused, also if the others would complete it", () => {
  for (const globs of [["{a", "b}"], ["**/*.ts", "a/{b/**"], ["[z-a]"]]) {
    assert.throws(() => anyGlobMatcher(globs), SyntaxError);
    assert.throws(() => globs.map(globMatcher), SyntaxError);
  }
});

it("similar lists of globs are kept apart", () => {
  assert.equal(anyGlobMatcher(["a", "b"])("b"), true);
  assert.equal(anyGlobMatcher(["a\nb"])("b"), false);
  assert.equal(anyGlobMatcher(["a\nb"])("a\nb"), true);
});
