/** Compares the remainder of a glob with the names that an exception excludes. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { withoutEndings } from "./without-endings.ts";

const meanings: Readonly<Record<string, string>> = {
  "*": "[^/]*",
  "{": "(?:",
  "}": ")",
  ",": "|",
  ".": "\\.",
};

/** Matches globs with stars, sets and braces. */
function matcher(glob: string): RegExp {
  const source = glob.replaceAll(/\[!([^\]]*)\]|[*{},.]/gu, (found, set) => meanings[found] ?? `[^${set}]`);
  return new RegExp(`^${source}$`, "u");
}

it("are all names except the exceptions", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 4 });
  const name = fc.string({ unit: fc.constantFrom("a", "b", "c", "."), maxLength: 6 });
  fc.assert(
    fc.property(
      fc.array(letters, { maxLength: 4 }),
      name,
      fc.constantFrom("", ".x"),
      (endings, drawn, tail) => {
        const exceptions = endings.map((ending) => `d/e.*${ending}${tail}`);
        const left = withoutEndings(`d/e.*${tail}`, [...exceptions, "other/**", "d/e.*/x"]);
        const isLeft = left.some((glob) => matcher(glob).test(`d/e.${drawn}${tail}`));
        assert.equal(isLeft, !endings.some((ending) => drawn.endsWith(ending)));
      },
    ),
    { numRuns: 2000 },
  );
});

it("are all names if the exceptions are different", () => {
  for (const glob of ["**/.env", "a/**", "*.pem"])
    assert.deepEqual(withoutEndings(glob, ["b*c", "a/*x"]), [glob]);
});
