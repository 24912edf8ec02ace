import assert from "node:assert/strict";
import { test } from "node:test";
import { profileOf } from "./profiles/profile-of.ts";
import { offeredTools, promptFor } from "./prompt-for.ts";

const spec = (name: string) => ({ name, description: name, parameters: {} });
const free = { ...spec("apply_patch"), freeform: { argument: "patch", grammar: "start: TEXT" } };
const all = [...["read", "edit", "write", "delete", "move"].map(spec), free, spec("shell")];

test("a dialect's tools are offered instead of the other's", () => {
  const offered = (model: string): readonly string[] =>
    offeredTools(all, profileOf(model)).map(({ name }) => name);
  for (const model of ["openai/gpt-5", "gpt-4.1-mini", "o3", "ollama/gpt-oss:20b"]) {
    assert.deepEqual(offered(model), ["read", "apply_patch", "shell"], model);
  }
  for (const model of [
    "anthropic/claude-opus-4",
    "builtin/repair",
    "ollama/qwen3",
    "openrouter/mistral/large",
  ]) {
    assert.deepEqual(offered(model), ["read", "edit", "write", "delete", "move", "shell"], model);
  }
});

test("a session with only one dialect keeps it whatever the model", () => {
  const old = ["read", "edit", "write", "shell"].map((name) => ({ name }));
  assert.equal(offeredTools(old, profileOf("gpt-5")), old);
});

test("only models trained for it write raw patches", () => {
  const patchOf = (model: string) =>
    promptFor(model, { surroundings: "", tools: all }).tools.find(({ name }) => name === "apply_patch");
  assert.deepEqual(patchOf("openai/gpt-6-sol")?.freeform, free.freeform);
  assert.equal(patchOf("openai/gpt-4.1")?.freeform, undefined);
});
