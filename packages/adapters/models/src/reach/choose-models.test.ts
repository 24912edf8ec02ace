import assert from "node:assert/strict";
import { it } from "node:test";
import { createModels } from "../models.ts";
import { providers } from "../providers.ts";
import { builtinModel, chooseModels, isReached } from "./choose-models.ts";

it("uses the configured models, else the first key present, else the embedded model", () => {
  assert.deepEqual(chooseModels(["a/b", "c/d"], { ANTHROPIC_API_KEY: "k" }), ["a/b", "c/d"]);
  assert.match(chooseModels([], { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" })[0] ?? "", /^anthropic\//);
  assert.match(chooseModels([], { ANTHROPIC_AUTH_TOKEN: "t" })[0] ?? "", /^anthropic\//);
  assert.match(chooseModels([], { OPENAI_BASE_URL: "http://127.0.0.1:1/v1" })[0] ?? "", /^openai\//);
  for (const name of ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"]) {
    assert.match(chooseModels([], { [name]: "k" })[0] ?? "", /^google\//);
  }
  assert.deepEqual(chooseModels([], { ANTHROPIC_API_KEY: "" }), [builtinModel]);
});

it("has only ids of the catalogue as defaults", () => {
  const gateway = createModels();
  const defaults = Object.values(providers).flatMap(({ defaultModel }) => defaultModel ?? []);
  assert.ok(defaults.length > 0);
  for (const id of defaults) assert.ok(gateway.info(id).price, `${id} is not in the catalogue`);
  gateway.close();
});

it("reaches a provider by a key, an address, or the user's own configuration", () => {
  const none = { env: {}, providers: {} };
  assert.equal(isReached(builtinModel, none), true);
  assert.equal(isReached("anthropic/x", none), false);
  assert.equal(isReached("ollama/x", none), false);
  assert.equal(isReached("constructor/x", none), false);
  assert.equal(isReached("claude-sonnet-5-5", { ...none, env: { ANTHROPIC_AUTH_TOKEN: "t" } }), true);
  assert.equal(isReached("openai/x", { ...none, env: { OPENAI_BASE_URL: "http://127.0.0.1:1" } }), true);
  assert.equal(isReached("ollama/x", { ...none, providers: { ollama: {} } }), true);
});
