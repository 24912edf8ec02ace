/** Tests for every `isBelow`, which guards paths: compares it with a name-by-name comparison. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "#properties";

export type IsBelow = (path: string, folder: string) => boolean;

const name = fc.oneof(
  fc.constantFrom("a", "b", "ab", "a b", "a.b", ".a", "..a", "...", "A", "ä", "-"),
  fc
    .string({ minLength: 1, maxLength: 3 })
    .filter((text) => !/[/\\\0]/u.test(text) && !/^\.{1,2}$/u.test(text)),
);
const names = fc.array(name, { maxLength: 4 });

/** `separator` separates names; `root` is the start of an absolute path. */
export function isBelowCases(isBelow: IsBelow, separator: string, root: string): void {
  const absolute = (parts: readonly string[]): string => root + parts.join(separator);
  const relative = (parts: readonly string[]): string => parts.join(separator);
  const holds = (parts: readonly string[], folder: readonly string[]): boolean =>
    folder.every((one, at) => parts[at] === one);
  const check = (property: (parts: readonly string[], folder: readonly string[]) => void): void =>
    fc.assert(
      fc.property(names, names, fc.boolean(), (own, other, isInside) => {
        property(isInside ? [...other, ...own] : own, other);
      }),
      { numRuns: 2000 },
    );

  describe("a path is below a folder", () => {
    it("if the folder's names begin its own, for absolute paths", () =>
      check((parts, folder) =>
        assert.equal(isBelow(absolute(parts), absolute(folder)), holds(parts, folder)),
      ));

    it("if the folder's names begin its own, for relative paths", () =>
      check((parts, folder) =>
        assert.equal(isBelow(relative(parts), relative(folder)), holds(parts, folder)),
      ));

    it("whether or not a separator ends either one", () =>
      check((parts, folder) => {
        if (parts.length === 0 || folder.length === 0) return;
        for (const path of [absolute(parts), absolute(parts) + separator])
          for (const end of ["", separator])
            assert.equal(isBelow(path, absolute(folder) + end), holds(parts, folder));
      }));

    it("also if it is the folder itself, or in it", () =>
      check((parts, folder) => {
        assert.ok(isBelow(absolute(folder), absolute(folder)));
        assert.ok(isBelow(absolute([...folder, ...parts]), absolute(folder)));
      }));

    it("never if its name only starts like the folder's", () => {
      assert.ok(!isBelow(absolute(["ab"]), absolute(["a"])));
      assert.ok(!isBelow(absolute(["a", "bc"]), absolute(["a", "b"])));
      assert.ok(!isBelow(relative(["a-b", "c"]), "a"));
    });

    it("never if only one of them is absolute", () =>
      check((parts, folder) => {
        assert.ok(!isBelow(absolute(parts), relative(folder)));
        if (parts.length > 0) assert.ok(!isBelow(relative(parts), absolute(folder)));
      }));

    it("if relative paths start from the folder, unless it goes up", () =>
      check((parts) => {
        for (const here of ["", "."]) {
          assert.ok(isBelow(relative(parts), here));
          assert.ok(!isBelow(relative(["..", ...parts]), here));
        }
      }));
  });
}
