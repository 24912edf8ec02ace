/** Tests the text about the best attempt. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { paletteFor } from "@lathe/terminal";
import { verdictText } from "./best-of-text.ts";

const figures = { files: 1, added: 1, removed: 0, steps: 1, cost: 0, costUnknown: false, ms: 1 };
const tests = { passed: true, ms: 1 };
const paint = paletteFor(process.stdout, { NO_COLOR: "1" });

it("names the judge, and mentions tests only if some ran", () => {
  const text = (by: "tests" | "model", isTested: boolean): string => {
    const result = { end: "done", ...figures, ...(isTested && { tests }) };
    return verdictText({ results: [result], winner: 0, by, why: "it is the smallest." }, paint);
  };
  assert.equal(text("tests", true), "Attempt 1 is best, by the tests: it is the smallest.");
  assert.equal(text("model", true), "Attempt 1 is best, by a model: it is the smallest.");
  assert.equal(text("tests", false), "Attempt 1 is best: it is the smallest.");
});
