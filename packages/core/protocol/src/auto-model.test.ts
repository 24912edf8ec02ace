/** `auto` and its modes, read from a list of models. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { autoMode } from "./auto-model.ts";
import { type Failure, isFailure } from "./failure.ts";

it("reads auto and its modes, and nothing else", () => {
  assert.equal(autoMode(["a/b", "c/d"]), undefined);
  assert.equal(autoMode([]), undefined);
  assert.equal(autoMode(["auto"]), "balanced");
  assert.equal(autoMode(["auto:cost"]), "cost");
  for (const models of [["auto:cheap"], ["auto", "a/b"]]) assert.ok(isFailure(autoMode(models) as Failure));
});
