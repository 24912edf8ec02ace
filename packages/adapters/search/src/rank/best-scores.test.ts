import assert from "node:assert/strict";
import { it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { bestScores } from "./best-scores.ts";

it("finds what sorting all finds, and the first of equal ones", () => {
  const score = fc.oneof(fc.constantFrom(0, 1, 2), fc.double({ min: 0, max: 3, noNaN: true }));
  fc.assert(
    fc.property(
      fc.array(score),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 4 }),
      (all, most, part) => {
        const isWanted = (at: number): boolean => at % part === 0;
        const expected = all
          .map((one, at) => ({ at, score: one }))
          .filter(({ at, score: one }) => one > 0 && isWanted(at))
          .toSorted((a, b) => b.score - a.score)
          .slice(0, most);
        assert.deepEqual(bestScores(Float64Array.from(all), most, isWanted), expected);
      },
    ),
  );
});
