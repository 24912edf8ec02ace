import assert from "node:assert/strict";
import { it } from "node:test";
import { chooseModels } from "./choose-models.ts";

it("takes what is configured, else the first key present, else the embedded model", () => {
  assert.deepEqual(chooseModels(["a/b", "c/d"], { ANTHROPIC_API_KEY: "k" }), ["a/b", "c/d"]);
  assert.match(chooseModels([], { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" })[0] ?? "", /^anthropic\//);
  assert.match(chooseModels([], { OPENAI_BASE_URL: "http://127.0.0.1:1/v1" })[0] ?? "", /^openai\//);
  assert.match(chooseModels([], { GEMINI_API_KEY: "k" })[0] ?? "", /^google\//);
  assert.deepEqual(chooseModels([], { ANTHROPIC_API_KEY: "" }), ["builtin/repair"]);
});
