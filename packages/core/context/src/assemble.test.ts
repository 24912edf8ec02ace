import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type AssistantPart,
  emptySession,
  type Message,
  type ModelInfo,
  type Session,
} from "@lathe/protocol";
import { fc } from "@lathe/testkit/properties";
import { assemble, estimateTokens } from "./assemble.ts";

const info: ModelInfo = { id: "a/b", window: 200_000, maxOutput: 64_000, images: true };

function sessionWith(messages: readonly Message[]): Session {
  const tools = [{ name: "read", description: "Reads.", parameters: { type: "object" } }];
  return { ...emptySession, id: "s1", prompt: { system: "Be good.", tools }, messages };
}

const text = fc.string({ unit: "grapheme", maxLength: 200 });
const assistantPart: fc.Arbitrary<AssistantPart> = fc.oneof(
  text.map((words): AssistantPart => ({ type: "text", text: words })),
  text.map((words): AssistantPart => ({ type: "reasoning", provider: "a", text: words, signature: "abc" })),
  text.map((input): AssistantPart => ({ type: "tool-call", id: "c1", tool: "read", input })),
);
const message: fc.Arbitrary<Message> = fc.oneof(
  text.map((words): Message => ({ role: "user", parts: [{ type: "text", text: words }] })),
  fc
    .array(assistantPart, { minLength: 1, maxLength: 4 })
    .map((parts): Message => ({ role: "assistant", parts })),
);
const conversation = fc.array(message, { maxLength: 12 });

describe("assemble", () => {
  it("has every earlier request as an exact prefix, with the one cache mark at its end", () => {
    fc.assert(
      fc.property(conversation, fc.nat(), (messages, cut) => {
        const whole = assemble(sessionWith(messages), info);
        const earlier = assemble(sessionWith(messages.slice(0, cut % (messages.length + 1))), info);
        assert.equal(JSON.stringify(whole.system), JSON.stringify(earlier.system));
        assert.equal(JSON.stringify(whole.tools), JSON.stringify(earlier.tools));
        assert.deepEqual(whole.messages.slice(0, earlier.messages.length), earlier.messages);
        assert.deepEqual(whole.cacheMarks, messages.length === 0 ? [] : [messages.length - 1]);
        assert.equal(whole.cacheKey, "s1");
      }),
    );
  });

  it("offers the current model its own dialect, the same each time", () => {
    const tools = ["read", "edit", "apply_patch"].map((name) => ({ name, description: "", parameters: {} }));
    const session = { ...sessionWith([]), prompt: { system: "", tools } };
    const offered = (model: string): readonly string[] =>
      assemble({ ...session, model }, info).tools.map(({ name }) => name);
    assert.deepEqual(offered("anthropic/claude"), ["read", "edit"]);
    assert.deepEqual(offered("openai/gpt-5"), ["read", "apply_patch"]);
  });

  it("requests no more output than the model can give, nor than is reserved", () => {
    assert.equal(assemble(sessionWith([]), { ...info, maxOutput: 4_000 }).maxOutputTokens, 4_000);
    assert.equal(assemble(sessionWith([]), info).maxOutputTokens, 32_000);
  });
});

describe("estimateTokens", () => {
  it("is never below a quarter of the characters, and grows with every message", () => {
    fc.assert(
      fc.property(conversation, message, (messages, next) => {
        const request = assemble(sessionWith(messages), info);
        const longer = assemble(sessionWith([...messages, next]), info);
        assert.ok(estimateTokens(longer) > estimateTokens(request));
        const said = messages
          .flatMap(({ parts }): readonly object[] => parts)
          .map((part) => JSON.stringify(part).length);
        const plain = request.system.length + JSON.stringify(request.tools).length;
        const characters = said.reduce((sum, one) => sum + one, plain) - 80 * said.length;
        assert.ok(estimateTokens(request) >= characters / 4);
      }),
    );
  });

  it("counts an image by its cost, not by its bytes", () => {
    const image = { type: "image", mediaType: "image/png", base64: "A".repeat(1_000_000) } as const;
    const request = assemble(sessionWith([{ role: "user", parts: [image] }]), info);
    assert.ok(estimateTokens(request) > 1_600 && estimateTokens(request) < 2_000);
  });
});
