/** The strict server: each rule refuses a bad request, and a plain conversation passes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantPart } from "@lathe/protocol";
import { checkAnthropic } from "./strict-anthropic.ts";
import { checkChat } from "./strict-chat.ts";
import { checkGemini } from "./strict-gemini.ts";
import { checkResponses } from "./strict-responses.ts";
import type { Issued, Json, StrictCheck } from "./wire-server-format.ts";

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function thought(provider: string, metadata: object): AssistantPart {
  return { type: "reasoning", text: "hm", provider, signature: JSON.stringify({ [provider]: metadata }) };
}

const call = { type: "tool-call", id: "c1", tool: "read", input: "{}" } as const;
const issued: readonly Issued[] = [
  { model: "m", parts: [thought("anthropic", { signature: "sig" }), call] },
  { model: "m", parts: [thought("openai", { itemId: "rs_1", reasoningEncryptedContent: "enc" }), call] },
  { model: "m", parts: [{ ...call, signature: JSON.stringify({ google: { thoughtSignature: "ts" } }) }] },
];

interface Case {
  readonly check: StrictCheck;
  readonly good: Json;
  /** The change to the good request, and the text of the refusal. */
  readonly bad: readonly (readonly [why: RegExp, change: (body: Json) => unknown])[];
  readonly model?: string;
}

/** Half of an emoji, left by a cut in the middle. */
const half = "a\ud83d";

const ask = { role: "user", content: [{ type: "text", text: "hi" }] };
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: png } };
const anthropic: Case = {
  check: checkAnthropic,
  good: {
    model: "m",
    max_tokens: 100,
    system: [{ type: "text", text: "s", cache_control: { type: "ephemeral" } }],
    tools: [{ name: "read", input_schema: { type: "object" } }],
    messages: [
      ask,
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "sig" },
          { type: "tool_use", id: "c1", name: "read", input: {} },
        ],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "c1", content: [image] }, ...ask.content],
      },
    ],
  },
  bad: [
    [/no low surrogate/, (body) => Object.assign(body.messages[0].content[0], { text: half })],
    [/no low surrogate/, (body) => Object.assign(body.messages[1].content[1], { input: { [half]: 1 } })],
    [/unknown field nonsense/, (body) => Object.assign(body, { nonsense: 1 })],
    [/max_tokens/, (body) => Object.assign(body, { max_tokens: 0 })],
    [/does not match/, (body) => Object.assign(body.tools[0], { name: "a b" })],
    [/unique/, (body) => body.tools.push(body.tools[0])],
    [/first must use the user role/, (body) => body.messages.shift()],
    [/end with a user message/, (body) => body.messages.pop()],
    [/non-whitespace/, (body) => Object.assign(body.messages[0].content[0], { text: " \n" })],
    [/Invalid `signature`/, (body) => Object.assign(body.messages[1].content[0], { signature: "other" })],
    [/cannot be modified/, (body) => Object.assign(body.messages[1].content[0], { thinking: "changed" })],
    [/must remain as they were/, (body) => body.messages[1].content.reverse()],
    [/should match/, (body) => Object.assign(body.messages[1].content[1], { id: "a:b" })],
    [/should be an object/, (body) => Object.assign(body.messages[1].content[1], { input: "{}" })],
    [/immediately after/, (body) => body.messages.splice(2, 0, ask)],
    [/immediately after/, (body) => Object.assign(body.messages[2].content[0], { tool_use_id: "c2" })],
    [/come first/, (body) => body.messages[2].content.reverse()],
    [
      /said to be image\/jpeg/,
      (body) => Object.assign(body.messages[2].content[0].content[0].source, { media_type: "image/jpeg" }),
    ],
    [
      /not supported/,
      (body) => Object.assign(body.messages[2].content[0].content[0].source, { media_type: "image/bmp" }),
    ],
    [/maximum of 4/, (body) => Object.assign(body, { system: [1, 2, 3, 4, 5].map(() => body.system[0]) })],
    [
      /must start with a thinking block/,
      (body) => {
        body.messages[1].content.shift();
        body.thinking = { type: "enabled" };
      },
    ],
  ],
};

const chat: Case = {
  check: checkChat,
  good: {
    model: "m",
    max_tokens: 100,
    tools: [{ type: "function", function: { name: "read", parameters: { type: "object" } } }],
    messages: [
      { role: "system", content: "s" },
      { role: "user", content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${png}` } }] },
      {
        role: "assistant",
        content: null,
        reasoning_content: "hm",
        tool_calls: [{ id: "c1", type: "function", function: { name: "read", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "r" },
    ],
  },
  bad: [
    [/no low surrogate/, (body) => Object.assign(body.messages[3], { content: half })],
    [/max_tokens/, (body) => delete body.max_tokens],
    [/system must come first/, (body) => body.messages.push(body.messages[0])],
    [/not be empty/, (body) => Object.assign(body.messages[1], { content: "" })],
    [
      /not supported|no data URL/,
      (body) => Object.assign(body.messages[1].content[0].image_url, { url: "x" }),
    ],
    [/content or tool_calls/, (body) => delete body.messages[2].tool_calls],
    [
      /unknown field extra_content/,
      (body) => Object.assign(body.messages[2].tool_calls[0], { extra_content: {} }),
    ],
    [/does not match/, (body) => Object.assign(body.messages[2].tool_calls[0].function, { name: "a b" })],
    [/not this model's own/, (body) => Object.assign(body.messages[2], { reasoning_content: "other" })],
    [/only text/, (body) => Object.assign(body.messages[3], { content: [] })],
    [/did not have response/, (body) => body.messages.pop()],
    [/did not have response/, (body) => body.messages.splice(3, 0, { role: "user", content: "x" })],
    [/answers no preceding call/, (body) => body.messages.push(body.messages[3])],
  ],
};

const responses: Case = {
  check: checkResponses,
  good: {
    model: "m",
    store: false,
    max_output_tokens: 100,
    tools: [
      {
        type: "custom",
        name: "apply_patch",
        format: { type: "grammar", syntax: "lark", definition: "start: A" },
      },
    ],
    input: [
      { role: "developer", content: "s" },
      { role: "user", content: [{ type: "input_image", image_url: `data:image/png;base64,${png}` }] },
      {
        type: "reasoning",
        id: "rs_1",
        encrypted_content: "enc",
        summary: [{ type: "summary_text", text: "hm" }],
      },
      { type: "function_call", call_id: "c1", name: "read", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "r" },
    ],
  },
  bad: [
    [/no low surrogate/, (body) => Object.assign(body.input[4], { output: half })],
    [/max_output_tokens/, (body) => Object.assign(body, { max_output_tokens: 8 })],
    [/store/, (body) => delete body.store],
    [/no start/, (body) => Object.assign(body.tools[0].format, { definition: "A: /x/" })],
    [/could not be verified/, (body) => Object.assign(body.input[2], { encrypted_content: "other" })],
    [/not of item/, (body) => Object.assign(body.input[2], { id: "rs_2" })],
    [/was changed/, (body) => Object.assign(body.input[2], { summary: [] })],
    [/required following item/, (body) => body.input.splice(3, 0, { role: "user", content: "x" })],
    [/begins with 'fc'/, (body) => Object.assign(body.input[3], { id: "rs_1" })],
    [/does not match/, (body) => Object.assign(body.input[3], { name: "a b" })],
    [/No tool output found/, (body) => body.input.pop()],
    [/No tool call found/, (body) => Object.assign(body.input[4], { type: "custom_tool_call_output" })],
    [/not allowed here/, (body) => Object.assign(body.input[1].content[0], { type: "image_url" })],
    [/not be empty/, (body) => Object.assign(body.input[1], { content: [] })],
  ],
};

const gemini: Case = {
  check: checkGemini,
  model: "gemini-3.8-flash",
  good: {
    generationConfig: { maxOutputTokens: 100 },
    tools: [{ functionDeclarations: [{ name: "read", parameters: { type: "object" } }] }],
    contents: [
      { role: "user", parts: [{ text: "hi" }, { inlineData: { mimeType: "image/png", data: png } }] },
      { role: "model", parts: [{ functionCall: { name: "read", args: {} }, thoughtSignature: "ts" }] },
      { role: "user", parts: [{ functionResponse: { name: "read", response: { content: "r" } } }] },
    ],
  },
  bad: [
    [/no low surrogate/, (body) => Object.assign(body.contents[0].parts[0], { text: half })],
    [/maxOutputTokens/, (body) => delete body.generationConfig],
    [/first must be a user turn/, (body) => body.contents.shift()],
    [/last must be a user turn/, (body) => body.contents.pop()],
    [/not be empty/, (body) => Object.assign(body.contents[0], { parts: [{ text: "" }] })],
    [/invalid name/, (body) => Object.assign(body.contents[1].parts[0].functionCall, { name: "1 a" })],
    [/must be an object/, (body) => Object.assign(body.contents[1].parts[0].functionCall, { args: "x" })],
    [/not valid/, (body) => Object.assign(body.contents[1].parts[0], { thoughtSignature: "other" })],
    [/missing a thought_signature/, (body) => delete body.contents[1].parts[0].thoughtSignature],
    [/must equal the function calls/, (body) => body.contents[2].parts.push(body.contents[2].parts[0])],
    [/must equal the function calls/, (body) => body.contents.splice(2, 0, body.contents[0])],
    [
      /not supported/,
      (body) => Object.assign(body.contents[0].parts[1].inlineData, { mimeType: "image/gif" }),
    ],
  ],
};

for (const [name, { check, good, bad, model = "m" }] of Object.entries({
  anthropic,
  chat,
  responses,
  gemini,
})) {
  const own = issued.map((answer) => ({ ...answer, model }));
  const problems = (body: Json, of = model): readonly string[] => [
    ...check(body, { model: of, issued: own }),
  ];
  describe(`the strict ${name} check`, () => {
    it("accepts a plain conversation", () => assert.deepEqual(problems(good), []));
    it("refuses the reasoning of another model", () =>
      assert.notDeepEqual(problems(good, `${model}-other`), []));
    for (const [why, change] of bad) {
      it(`refuses: ${why.source}`, () => {
        const body = structuredClone(good);
        change(body);
        assert.match(problems(body).join("\n"), why);
      });
    }
  });
}
