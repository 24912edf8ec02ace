/** Which agents `--model` and `--variant` select. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { isFailure } from "@lathe/protocol";
import type { Experiment } from "@lathe/telemetry/experiments";
import { contestantsOf } from "./variants.ts";

const experiment = (name: string, arms: readonly Experiment["arms"][number][]): Experiment => ({
  name,
  arms,
  metric: "done",
  guardrails: [],
});
const plain = { name: "control", weight: 1, set: {} };
const short = { name: "short", weight: 1, set: { limits: { steps: 3 } } };
const other = { name: "other", weight: 1, set: { models: ["a/b", "c/d"] } };
const all = [experiment("steps", [plain, short]), experiment("model", [plain, other])];

const names = (
  models: readonly string[],
  variants: readonly string[],
  from = all,
): readonly string[] | string => {
  const found = contestantsOf(models, variants, from);
  return isFailure(found) ? found.text : found.map(({ name }) => name);
};

it("uses models unchanged if no variant is named", () => {
  assert.deepEqual(names(["m/one", "oracle"], []), ["m/one", "oracle"]);
});

it("gives every model each variant, except a variant that sets its own model", () => {
  const one = [experiment("steps", [plain, short])];
  assert.deepEqual(names(["m/one", "m/two", "nop"], ["short", "steps/control"], one), [
    "m/one+short",
    "m/one+control",
    "m/two+short",
    "m/two+control",
    "nop",
  ]);
  assert.deepEqual(names(["m/one", "m/two"], ["model/other"]), ["a/b,c/d+model/other"]);
});

it("accepts an experiment for all its arms", () => {
  assert.deepEqual(names(["m/one"], ["steps"]), ["m/one+steps/control", "m/one+steps/short"]);
});

it("lists the variants, and reports an ambiguous name", () => {
  assert.match(String(names(["m/one"], ["long"])), /no variant long; there are steps\/control, steps\/short/);
  assert.match(String(names(["m/one"], ["control"])), /several experiments have an arm control/);
  assert.match(String(names(["m/one"], ["short"], [])), /"experiments" in your own config.json/);
});

it("counts as another agent once its settings change", () => {
  const definitionOf = (steps: number): string | undefined => {
    const arms = [plain, { ...short, set: { limits: { steps } } }];
    const found = contestantsOf(["m/one"], ["short"], [experiment("steps", arms)]);
    assert.ok(!isFailure(found));
    return found[0]?.variant?.definition;
  };
  assert.equal(definitionOf(3), definitionOf(3));
  assert.notEqual(definitionOf(3), definitionOf(4));
});
