/** Lines are the more suspicious, the more failing and the fewer passing tests run them. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { suspectsOf, type TestTrace } from "./suspicion.ts";

function trace(failed: boolean, lines: TestTrace["lines"], frames: TestTrace["frames"] = []): TestTrace {
  return { id: "t", failed, lines, error: "", frames };
}

function weights(traces: readonly TestTrace[], path = "a.py"): Readonly<Record<number, number>> {
  return Object.fromEntries(suspectsOf(traces).find((suspect) => suspect.path === path)?.lines ?? []);
}

describe("suspectsOf", () => {
  it("weighs a line that only failing tests run 1, and less the more passing tests run it", () => {
    const found = weights([
      trace(true, { "a.py": [1, 2, 3] }),
      trace(false, { "a.py": [1, 2] }),
      trace(false, { "a.py": [1] }),
    ]);
    assert.equal(found[3], 1);
    assert.ok(
      (found[3] ?? 0) > (found[2] ?? 0) && (found[2] ?? 0) > (found[1] ?? 0) && (found[1] ?? 0) > 0.25,
    );
  });

  it("weighs a line by how many of the failing tests run it", () => {
    const found = weights([trace(true, { "a.py": [1, 2] }), trace(true, { "a.py": [2] })]);
    assert.ok((found[2] ?? 0) > (found[1] ?? 0));
  });

  it("leaves out what only passing tests run, and tests themselves", () => {
    const traces = [
      trace(true, { "a.py": [1], "test_a.py": [1], "tests/b.py": [2] }),
      trace(false, { "a.py": [2], "c.py": [1] }),
    ];
    assert.deepEqual(
      suspectsOf(traces).map(({ path, lines }) => [path, [...lines.keys()]]),
      [["a.py", [1]]],
    );
  });

  it("lifts the line that raised, and a little those that called it", () => {
    const frames = [
      { path: "a.py", line: 1 },
      { path: "a.py", line: 2 },
      { path: "test_a.py", line: 9 },
    ];
    const found = weights([trace(true, { "a.py": [1, 2, 3] }, frames)]);
    assert.deepEqual(found, { 1: 1.15, 2: 1.4, 3: 1 });
  });

  it("knows paths with colons", () => {
    assert.deepEqual(weights([trace(true, { "a:b.py": [7] })], "a:b.py"), { 7: 1 });
  });

  it("is empty without a failing test", () => {
    assert.deepEqual(suspectsOf([trace(false, { "a.py": [1] })]), []);
    assert.deepEqual(suspectsOf([]), []);
  });

  it("stays above 0 and at most 1.5, and no further passing test lifts a line above another", () =>
    fc.assert(
      fc.property(
        fc.array(fc.record({ failed: fc.boolean(), lines: fc.uniqueArray(fc.integer({ min: 1, max: 6 })) }), {
          minLength: 1,
          maxLength: 8,
        }),
        (tests) => {
          const traces = tests.map(({ failed, lines }) => trace(failed, { "a.py": lines }));
          const before = weights(traces);
          for (const weight of Object.values(before)) assert.ok(weight > 0.25 && weight <= 1.5);
          const after = weights([...traces, trace(false, { "a.py": [1] })]);
          for (const [line, weight] of Object.entries(before))
            if (before[1] !== undefined && weight >= before[1])
              assert.ok((after[Number(line)] ?? 0) >= (after[1] ?? 0));
        },
      ),
    ));
});
