import assert from "node:assert/strict";
import { it } from "node:test";
import { profileOf } from "./profiles/profile-of.ts";
import { surroundingsText, systemPrompt } from "./system-prompt.ts";

const input = {
  environment: { "Operating system": "Linux", Folder: "/work" },
  instructions: [
    { path: "AGENTS.md", text: "\nUse tabs.\n" },
    { path: "docs/AGENTS.md", text: "Write plainly." },
  ],
};

it("contains the environment and the project's instructions, in the given order", () => {
  const prompt = systemPrompt(profileOf("anthropic/claude-opus-5-5"), surroundingsText(input));
  assert.match(prompt, /^You are Lathe/);
  assert.ok(prompt.includes("<environment>\nOperating system: Linux\nFolder: /work\n</environment>"));
  assert.ok(
    prompt.endsWith(
      '<instructions path="AGENTS.md">\nUse tabs.\n</instructions>\n\n<instructions path="docs/AGENTS.md">\nWrite plainly.\n</instructions>',
    ),
  );
});

it("differs by family, and is the same text for the same facts", () => {
  const of = (model: string): string => systemPrompt(profileOf(model), surroundingsText(input));
  assert.equal(of("claude-opus-5-5"), of("openrouter/anthropic/claude-opus-5.5"));
  assert.notEqual(of("claude-opus-5-5"), of("gpt-6-sol"));
  assert.match(of("gpt-6-sol"), /apply_patch only/);
  assert.doesNotMatch(of("claude-opus-5-5"), /apply_patch/);
});
