import assert from "node:assert/strict";
import { it } from "node:test";
import type { ModelInfo } from "@lathe/protocol";
import { autoModels } from "./auto-models.ts";

const price = { input: 1, output: 5, cached: 0.1, written: 1 };
const model = (id: string, more: Partial<ModelInfo> = {}): ModelInfo => ({
  id,
  window: 1000,
  maxOutput: 100,
  price,
  ...more,
});
const { price: _, ...unpriced } = model("anthropic/claude-secret");
const known = [
  model("openai/gpt-6-luna"),
  model("anthropic/claude-opus-5-5"),
  model("anthropic/claude-haiku-5-5"),
  model("anthropic/claude-mute", { tools: false }),
  unpriced,
];
const env = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k" };
const ids = (
  allow: readonly (readonly string[])[],
  block: readonly string[] = [],
  more = {},
): readonly string[] =>
  autoModels(known, { env, providers: {}, router: { allow, block }, ...more }).map(({ id }) => id);

it("offers models that are reachable, call tools and have a price, by provider", () => {
  assert.deepEqual(ids([]), ["anthropic/claude-opus-5-5", "anthropic/claude-haiku-5-5", "openai/gpt-6-luna"]);
  assert.deepEqual(ids([], [], { env: { OPENAI_API_KEY: "k" } }), ["openai/gpt-6-luna"]);
  assert.deepEqual(ids([], [], { env: {} }), []);
  assert.equal(ids([], [], { env: {}, isAll: true }).length, 3);
});

it("offers models that every list allows and none blocks", () => {
  assert.deepEqual(ids([["anthropic/*"]]), ["anthropic/claude-opus-5-5", "anthropic/claude-haiku-5-5"]);
  assert.deepEqual(
    ids([
      ["anthropic/*", "openai/*"],
      ["*haiku*", "*luna"],
    ]).length,
    2,
  );
  assert.deepEqual(ids([], ["*opus*", "openai/*"]), ["anthropic/claude-haiku-5-5"]);
  assert.deepEqual(ids([["claude-opus-5.5"]]), ["anthropic/claude-opus-5-5"]);
  assert.deepEqual(ids([["claude"]]), []);
  assert.deepEqual(ids([[]]), [], "a list that allows nothing allows nothing");
  assert.deepEqual(ids([["a(b"]]), []);
});
