/** Requests that Anthropic's messages API documents as refused. */
import { isRecord } from "@lathe/protocol";
import {
  checkEncoding,
  checkFields,
  checkImage,
  checkLimit,
  checkTools,
  findIssued,
  ownValue,
} from "./strict-wire.ts";
import type { Json, StrictCheck, StrictContext } from "./wire-server-format.ts";

const fields = [
  "model",
  "max_tokens",
  "system",
  "messages",
  "tools",
  "tool_choice",
  "stream",
  "thinking",
  "output_config",
  "metadata",
  "stop_sequences",
  "temperature",
  "top_p",
  "top_k",
  "service_tier",
];
const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const callId = /^[a-zA-Z0-9_-]{1,64}$/;
const toolName = /^[a-zA-Z0-9_-]{1,128}$/;

export const checkAnthropic: StrictCheck = function* (body, given) {
  const { messages, system = [], tools = [] } = body;
  yield* checkEncoding(body);
  yield* checkFields("request", body, fields);
  yield* checkLimit("max_tokens", body.max_tokens, [1, 128_000]);
  yield* checkTools(
    tools.map((tool: Json) => ({ name: tool.name, schema: tool.input_schema })),
    toolName,
  );
  for (const part of system) yield* checkText(part, "system");
  if (messages.length === 0) return yield "messages: at least one is required";
  if (messages[0].role !== "user") yield "messages: the first must use the user role";
  if (messages.at(-1).role !== "user") yield "messages: the conversation must end with a user message";
  for (const message of messages) yield* checkMessage(message, given);
  yield* checkPairs(messages);
  yield* checkThinkingStart(body);
  const marks = JSON.stringify(body).split('"cache_control":').length - 1;
  if (marks > 4) yield `a maximum of 4 blocks with cache_control may be provided, found ${marks}`;
};

function* checkText({ text, cache_control }: Json, where: string): Iterable<string> {
  if (text === "" && cache_control) yield `${where}: cache_control cannot be set for empty text blocks`;
  if (typeof text !== "string" || text.trim() === "") yield `${where}: text must contain non-whitespace text`;
}

function* checkMessage({ role, content }: Json, given: StrictContext): Iterable<string> {
  if (role !== "user" && role !== "assistant") yield `messages: unknown role ${role}`;
  if (content.length === 0) yield "messages: content must not be empty";
  const blocks: readonly Json[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  for (const block of blocks)
    yield* role === "user" ? checkUserBlock(block) : checkAssistantBlock(block, given);
  if (role === "assistant") yield* checkThinking(blocks, given);
}

function* checkUserBlock(block: Json): Iterable<string> {
  switch (block.type) {
    case "text":
      return yield* checkText(block, "user");
    case "image":
      return yield* checkImage(block.source.media_type, block.source.data, imageTypes);
    case "tool_result": {
      const { content } = block;
      const parts = typeof content === "string" ? [] : content;
      for (const part of parts) {
        if (part.type !== "text" && part.type !== "image") yield `tool_result: unknown block ${part.type}`;
        else yield* checkUserBlock(part);
      }
      return;
    }
    default:
      yield `user: block ${block.type} is not allowed`;
  }
}

function* checkAssistantBlock(block: Json, given: StrictContext): Iterable<string> {
  switch (block.type) {
    case "text":
      return yield* checkText(block, "assistant");
    case "tool_use":
      if (!callId.test(block.id)) yield `tool_use.id: "${block.id}" should match ${callId}`;
      if (!toolName.test(block.name)) yield `tool_use.name: "${block.name}" should match ${toolName}`;
      if (!isRecord(block.input)) yield "tool_use.input: should be an object";
      return;
    case "thinking":
      return yield* checkSignature(block, given);
    default:
      yield `assistant: block ${block.type} is not allowed`;
  }
}

/** A signature is valid only for the model that made it, and for its text. */
function* checkSignature(block: Json, { model, issued }: StrictContext): Iterable<string> {
  const found = findIssued(issued, (part) => ownValue(part, "anthropic", "signature") === block.signature);
  if (found?.answer.model !== model) return yield "Invalid `signature` in `thinking` block";
  const isSame = found.part.type === "reasoning" && found.part.text === block.thinking;
  if (!isSame) yield "thinking blocks cannot be modified";
  if (block.cache_control) yield "thinking: cache_control is not allowed";
}

/** An answer keeps all of its thinking or none, each block in its original place. */
function* checkThinking(blocks: readonly Json[], { issued }: StrictContext): Iterable<string> {
  const [first] = blocks.filter(({ type }) => type === "thinking");
  if (!first) return;
  const found = findIssued(issued, (part) => ownValue(part, "anthropic", "signature") === first.signature);
  const kinds: Readonly<Record<string, string>> = { thinking: "reasoning", tool_use: "tool-call" };
  const sent = blocks.map(({ type }) => kinds[type] ?? type);
  const whole = (found?.answer.parts ?? []).filter((part) => part.type !== "text" || part.text.trim() !== "");
  if (sent.join() !== whole.map(({ type }) => type).join()) {
    yield `thinking blocks must remain as they were in the original response: ${whole.map(({ type }) => type)}, not ${sent}`;
  }
}

/** The next message answers every call first, exactly once. */
function* checkPairs(messages: readonly Json[]): Iterable<string> {
  const ids = messages.flatMap(({ content }) => blocksOf(content, "tool_use").map(({ id }) => id));
  const twice = ids.find((id, at) => ids.indexOf(id) < at);
  if (twice !== undefined) yield `tool_use: ids must be unique, "${twice}" is not`;
  for (const [at, { role, content }] of messages.entries()) {
    const next = messages[at + 1];
    if (role === "assistant") yield* checkAnswered(blocksOf(content, "tool_use"), next?.content ?? []);
    const isOrphan = role !== "assistant" && blocksOf(next?.content ?? [], "tool_result").length > 0;
    if (isOrphan) yield "unexpected tool_result without a tool_use in the previous message";
  }
}

function* checkAnswered(calls: readonly Json[], next: Json): Iterable<string> {
  const results = blocksOf(next, "tool_result");
  const asked = calls.map(({ id }) => id);
  const answered = results.map(({ tool_use_id }) => tool_use_id);
  if ([...asked].sort().join() !== [...answered].sort().join()) {
    yield `tool_use ids ${asked} need tool_result blocks immediately after, found ${answered}`;
  }
  const first = next.slice(0, results.length);
  if (results.length > 0 && first.some((block: Json) => block.type !== "tool_result")) {
    yield "tool_result blocks must come first";
  }
}

function blocksOf(content: Json, type: string): readonly Json[] {
  return typeof content === "string" ? [] : content.filter((block: Json) => block.type === type);
}

/** Only with a budget: adaptive thinking accepts answers that began without. */
function* checkThinkingStart({ thinking, messages }: Json): Iterable<string> {
  if (thinking?.type !== "enabled") return;
  const last = messages.findLast(({ role }: Json) => role === "assistant");
  const isOpen = last && blocksOf(last.content, "tool_use").length > 0;
  if (isOpen && last.content[0].type !== "thinking")
    yield "when thinking is enabled, a final assistant message must start with a thinking block";
}
