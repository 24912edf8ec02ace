import assert from "node:assert/strict";
import { test } from "node:test";
import { offeredTools, profileOf } from "./profile.ts";

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
  const all = ["read", "edit", "write", "delete", "move", "apply_patch", "shell"].map((name) => ({ name }));
  const offered = (model: string): readonly string[] => offeredTools(all, model).map(({ name }) => name);
  assert.deepEqual(offered("gpt-5"), ["read", "apply_patch", "shell"]);
  assert.deepEqual(offered("claude"), ["read", "edit", "write", "delete", "move", "shell"]);
});

test("a session that has one dialect alone keeps it whatever the model", () => {
  const old = ["read", "edit", "write", "shell"].map((name) => ({ name }));
  assert.equal(offeredTools(old, "gpt-5"), old);
});
