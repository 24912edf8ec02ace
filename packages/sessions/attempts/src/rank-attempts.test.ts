/** Which attempt is best by its tests. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AttemptResult } from "@lathe/protocol";
import { fc } from "@lathe/testkit/properties";
import { rankAttempts } from "./rank-attempts.ts";

const plain: AttemptResult = {
  end: "done",
  files: 1,
  added: 5,
  removed: 5,
  steps: 3,
  cost: 1,
  costUnknown: false,
  ms: 10,
};
const passing: AttemptResult = { ...plain, tests: { passed: true, ms: 1 } };
const failing = (failures?: number): AttemptResult => ({
  ...plain,
  tests: { passed: false, ...(failures !== undefined && { failures }), ms: 1 },
});

const rows: readonly (readonly [string, readonly AttemptResult[], readonly number[], RegExp])[] = [
  ["one that passes", [failing(1), { ...passing, added: 900 }], [1, 0], /^its tests pass$/],
  ["fewer failures", [failing(3), failing(), failing(2)], [2, 0, 1], /^none passes.*fewer.*\(2\)$/],
  [
    "one that left the tests alone",
    [{ ...passing, testFiles: ["t.js"], added: 0 }, passing],
    [1, 0],
    /left the tests/,
  ],
  [
    "one whose tests pass as they were",
    [
      { ...passing, testFiles: ["t.js"] },
      { ...passing, testFiles: ["t.js"], originalTests: { passed: true, ms: 1 }, added: 90 },
    ],
    [1, 0],
    /left the tests|originals|tests/,
  ],
  ["one that ended well", [{ ...passing, end: "limit" }, passing], [1, 0], /came to its end/],
  [
    "one that changed something",
    [{ ...passing, files: 0, added: 0, removed: 0 }, passing],
    [1, 0],
    /changed/,
  ],
  ["the smaller change", [passing, { ...passing, added: 1 }], [1, 0], /smaller \(6 lines\)/],
  ["fewer files", [{ ...passing, files: 2 }, passing], [1, 0], /fewer files \(1\)/],
  ["the cheaper one", [passing, { ...passing, cost: 0.5 }], [1, 0], /cheaper/],
  ["the first of a tie, and says so", [passing, passing, failing(1)], [0, 1, 2], /^a tie/],
  ["one of one", [failing(1)], [0], /^none passes the tests; it is the only one$/],
  ["the one that is left", [{ ...plain, end: "lost" }, plain], [1], /the others came to nothing/],
  ["none where all are lost", [{ ...plain, end: "lost" }], [], /no attempt/],
  ["none that failed without a change", [{ ...plain, files: 0, end: "failed" }], [], /no attempt/],
];

describe("attempts by their tests", () => {
  for (const [what, results, order, why] of rows) {
    it(`prefers ${what}`, () => {
      const ranked = rankAttempts(results);
      assert.deepEqual(ranked.order, order);
      assert.match(ranked.why, why);
    });
  }

  it("have the same order, whatever order they were made in", () => {
    const small = fc.integer({ min: 0, max: 2 });
    const result = fc.record({
      end: fc.constantFrom("done", "limit", "lost"),
      tests: fc.constantFrom(
        { passed: true, ms: 1 },
        { passed: false, ms: 1 },
        { passed: false, failures: 1, ms: 1 },
      ),
      files: small,
      added: small,
      removed: small,
      steps: small,
      cost: small,
      costUnknown: fc.boolean(),
      ms: small,
    });
    const shown = (all: readonly AttemptResult[]): readonly unknown[] =>
      rankAttempts(all).order.map((at) => {
        const { tests, end, files, added = 0, removed = 0, cost } = all[at] ?? plain;
        return [tests, end, files, added + removed, cost];
      });
    fc.assert(
      fc.property(fc.array(result, { maxLength: 8 }), (all) => {
        const texts = (list: readonly AttemptResult[]): readonly string[] =>
          shown(list).map((one) => JSON.stringify(one));
        assert.deepEqual(texts(all), texts(all.toReversed()));
      }),
    );
  });
});
