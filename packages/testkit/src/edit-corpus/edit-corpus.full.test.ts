/** The corpus from real packages: every reachable source gives cases, and the clean ones are correct. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { editCases } from "./corpus.ts";
import { corpusSources, sourcePairs } from "./corpus-sources.ts";
import type { EditCase } from "./edit-case.ts";
import { judgeCases } from "./judge.ts";
import { strictEngine } from "./strict-engine.ts";

/** The strict engine supports neither CRLF nor a missing final newline. */
const isPlain = ({ request: { content } }: EditCase): boolean =>
  !content.includes("\r") && content.endsWith("\n");

describe("the edit corpus from real files", () => {
  for (const source of corpusSources) {
    it(`takes changes from ${source}`, async (test) => {
      const { pairs, skipped } = sourcePairs([source], "training");
      for (const line of skipped) test.diagnostic(line);
      if (pairs.length === 0) return test.skip(`${source} cannot be reached: ${skipped.join("; ")}`);
      const judged = await judgeCases(editCases(pairs, { seed: 1, each: 6 }), strictEngine);
      const written = judged.filter(
        ({ verdict }) => verdict === "applied-not-refused" || verdict === "wrong-apply",
      );
      assert.deepEqual(
        written.map(({ case: { request }, verdict }) => ({ verdict, id: request.id })),
        [],
      );
      const clean = judged.filter((one) => one.case.corruption === "clean" && isPlain(one.case));
      const right = clean.filter(({ verdict }) => verdict === "right");
      assert.ok(clean.length > 0);
      assert.equal(right.length, clean.length);
    });
  }
});
