import assert from "node:assert/strict";
import { test } from "node:test";
import { offersTool, profileOf } from "./profile.ts";

test("OpenAI's models write patches, others pieces of text", () => {
  for (const model of ["openai/gpt-5", "gpt-4.1-mini", "o3", "azure/x/codex-mini", "chatgpt-4o-latest"]) {
    assert.equal(profileOf(model).edits, "v4a", model);
  }
  for (const model of [
    "anthropic/claude-opus-4",
    "repair",
    "ollama/qwen3",
    "openrouter/mistral/large",
    "ollama/gpt",
  ]) {
    assert.equal(profileOf(model).edits, "str-replace", model);
  }
});

test("a dialect's tools are offered instead of the other's", () => {
  const offered = (model: string): readonly string[] =>
    ["read", "edit", "write", "delete", "move", "apply_patch", "shell"].filter((tool) =>
      offersTool(profileOf(model), tool),
    );
  assert.deepEqual(offered("gpt-5"), ["read", "apply_patch", "shell"]);
  assert.deepEqual(offered("claude"), ["read", "edit", "write", "delete", "move", "shell"]);
});
