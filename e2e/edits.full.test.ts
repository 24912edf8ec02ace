/**
 * Tests `lathe edits apply` on thousands of corrupted edits of real packages in seven languages, against the
 * design's targets.
 */
import assert from "node:assert/strict";
import { it } from "node:test";
import { corpusSources, editCases, formatReport, sourcePairs } from "@lathe/testkit/edit-corpus";
import { judged, scoreOf } from "./judged-edits.ts";

for (const [set, seed] of [
  ["training", 1],
  ["held-out", 7001],
  ["held-out", 20_261],
] as const) {
  it(`corrupted edits, ${set} packages, seed ${seed}`, async (test) => {
    const { pairs, skipped } = sourcePairs(corpusSources, set);
    for (const line of skipped) test.diagnostic(`skipped ${line}`);
    if (pairs.length === 0) return test.skip(skipped.join("; "));
    const all = await judged(editCases(pairs, { seed, each: 14 }));
    const score = scoreOf(all);
    test.diagnostic(JSON.stringify({ cases: all.length, ...score }));
    const imperfect = all.filter(({ verdict }) => verdict !== "right");
    test.diagnostic(formatReport(imperfect));
    assert.equal(score.mustRefuse.right, score.mustRefuse.of);
    assert.ok(score.wrong <= all.length / 1_000);
    assert.ok(score.mustApply.right >= score.mustApply.of * 0.98);
    assert.ok(score.damaged <= all.length * 0.005);
    const plain = all.filter((one) =>
      /^(?:clean|file-crlf|edit-crlf|file-bom|file-no-final)/.test(one.case.corruption),
    );
    assert.ok(plain.length > 100 && plain.every(({ verdict }) => verdict === "right"));
  });
}

it("corrupted edits of this repository's history", async (test) => {
  const { pairs, skipped } = sourcePairs(["own"], "training");
  if (pairs.length === 0) return test.skip(skipped.join("; "));
  const all = await judged(editCases(pairs, { seed: 11, each: 4 }));
  const { mustRefuse, mustApply, wrong, damaged } = scoreOf(all);
  test.diagnostic(JSON.stringify({ cases: all.length, mustRefuse, mustApply, wrong, damaged }));
  assert.ok(all.length > 1_000);
  assert.equal(mustRefuse.right, mustRefuse.of);
  assert.equal(wrong, 0);
  assert.ok(mustApply.right >= mustApply.of * 0.98);
  assert.ok(damaged <= all.length * 0.005);
});
