import assert from "node:assert/strict";
import { it } from "node:test";
import { systemPrompt } from "./system-prompt.ts";

it("tells where the agent is and what the project asks, in the order given", () => {
  const prompt = systemPrompt({
    environment: { "Operating system": "Linux", Folder: "/work" },
    instructions: [
      { path: "AGENTS.md", text: "\nUse tabs.\n" },
      { path: "docs/AGENTS.md", text: "Write plainly." },
    ],
  });
  assert.match(prompt, /^You are Lathe/);
  assert.ok(prompt.includes("<environment>\nOperating system: Linux\nFolder: /work\n</environment>"));
  assert.ok(
    prompt.endsWith(
      '<instructions path="AGENTS.md">\nUse tabs.\n</instructions>\n\n<instructions path="docs/AGENTS.md">\nWrite plainly.\n</instructions>',
    ),
  );
});

it("is the same text for the same facts", () => {
  const input = { environment: { a: "b" }, instructions: [] };
  assert.equal(systemPrompt(input), systemPrompt(input));
});
