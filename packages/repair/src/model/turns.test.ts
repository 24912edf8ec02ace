/** Turns for the tests of the embedded model: what was asked, and what the tools have answered so far. */

import { type Message, type ModelRequest, messageText } from "@lathe/protocol";
import { streamed } from "@lathe/testkit";
import { createRepairModel } from "./repair-model.ts";

export interface Called {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface Answered {
  readonly text: string;
  readonly calls: readonly Called[];
  readonly ids: readonly string[];
}

/** What a tool says to a call: its text, or a failure. */
export type Reply = string | { readonly failed: string };
export type Tools = Readonly<Record<string, (input: Called["input"]) => Reply>>;

export function requestOf(messages: readonly Message[], tools: readonly string[]): ModelRequest {
  return {
    system: "",
    tools: tools.map((name) => ({ name, description: "", parameters: {} })),
    messages,
    cacheMarks: [],
    maxOutputTokens: 1000,
    cacheKey: "k",
  };
}

export async function answerTo(request: ModelRequest): Promise<Answered> {
  const parts = await streamed(createRepairModel(), { request });
  const last = parts.at(-1);
  if (last?.type !== "finished") throw new Error("the model failed");
  const calls = last.parts.filter((part) => part.type === "tool-call");
  return {
    text: messageText(last.parts),
    calls: calls.map((call) => ({ tool: call.tool, input: JSON.parse(call.input) })),
    ids: calls.map((call) => call.id),
  };
}

export interface Conversation {
  /** All calls, in order, in words: `shell npm test`. */
  readonly calls: readonly Called[];
  /** The words said before each round of calls, then the last answer. */
  readonly texts: readonly string[];
  readonly last: string;
}

/** Lets the model work with tools until it has nothing more to call. */
export async function converse(asked: string, tools: Tools): Promise<Conversation> {
  const messages: Message[] = [{ role: "user", parts: [{ type: "text", text: asked }] }];
  const calls: Called[] = [];
  const texts: string[] = [];
  for (let round = 0; round < 20; round++) {
    const answer = await answerTo(requestOf(messages, Object.keys(tools)));
    texts.push(answer.text);
    if (answer.calls.length === 0) return { calls, texts, last: answer.text };
    calls.push(...answer.calls);
    messages.push(...exchange(answer, tools));
  }
  throw new Error(`no end: ${JSON.stringify(calls)}`);
}

function exchange(answer: Answered, tools: Tools): readonly Message[] {
  const ids = answer.ids;
  return [
    {
      role: "assistant",
      parts: answer.calls.map(({ tool, input }, index) => ({
        type: "tool-call",
        id: ids[index] ?? "",
        tool,
        input: JSON.stringify(input),
      })),
    },
    {
      role: "tool",
      parts: answer.calls.map(({ tool, input }, index) => {
        const reply = tools[tool]?.(input) ?? { failed: `no tool ${tool}` };
        const text = typeof reply === "string" ? reply : reply.failed;
        return { type: "tool-result", id: ids[index] ?? "", tool, text, failed: typeof reply !== "string" };
      }),
    },
  ];
}
