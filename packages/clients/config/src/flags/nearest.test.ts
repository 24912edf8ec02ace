import assert from "node:assert/strict";
import { it } from "node:test";
import { nearest } from "./nearest.ts";

it("finds the intended name, or none", () => {
  assert.equal(nearest("sesions", ["run", "sessions"]), "sessions");
  assert.equal(nearest("--modle", ["--model", "--debug"]), "--model");
  assert.equal(nearest("--modle", ["--models", "--model"]), "--model");
  assert.equal(nearest("x", ["run"]), undefined);
  assert.equal(nearest("frobnicate", ["run", "demo"]), undefined);
});
