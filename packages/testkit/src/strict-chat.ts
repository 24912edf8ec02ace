/** Requests that OpenAI's chat completions API documents as refused. */
import type { AssistantPart } from "@lathe/protocol";
import { checkDataUrl, checkEncoding, checkFields, checkLimit, checkTools } from "./strict-wire.ts";
import type { Json, StrictCheck, StrictContext } from "./wire-server-format.ts";

const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const toolName = /^[a-zA-Z0-9_-]{1,64}$/;

export const checkChat: StrictCheck = function* (body, given) {
  const { messages, tools = [] } = body;
  yield* checkEncoding(body);
  yield* checkLimit("max_tokens", body.max_completion_tokens ?? body.max_tokens, [1, 128_000]);
  yield* checkTools(
    tools.map((tool: Json) => ({ name: tool.function.name, schema: tool.function.parameters })),
    toolName,
  );
  for (const [at, message] of messages.entries()) {
    if ((message.role === "system" || message.role === "developer") && at > 0)
      yield "messages: system must come first";
    yield* checkMessage(message, given);
  }
  yield* checkOrder(messages);
};

function* checkMessage(message: Json, given: StrictContext): Iterable<string> {
  switch (message.role) {
    case "system":
    case "developer":
      return yield* checkContent(message);
    case "user":
      yield* checkFields("user", message, ["role", "content", "name"]);
      return yield* checkContent(message);
    case "assistant":
      return yield* checkAssistant(message, given);
    case "tool":
      yield* checkFields("tool", message, ["role", "content", "tool_call_id"]);
      if (typeof message.content !== "string") yield "tool: only text is supported";
      return;
    default:
      yield `messages: unknown role ${message.role}`;
  }
}

function* checkContent({ role, content }: Json): Iterable<string> {
  if (content === "" || content?.length === 0) yield `${role}: content must not be empty`;
  for (const part of typeof content === "string" ? [] : content) {
    if (part.type === "text" && part.text === "") yield `${role}: text must not be empty`;
    else if (part.type === "image_url") yield* checkDataUrl(part.image_url.url, imageTypes);
    else if (part.type !== "text") yield `${role}: unknown part ${part.type}`;
  }
}

function* checkAssistant(message: Json, { model, issued }: StrictContext): Iterable<string> {
  yield* checkFields("assistant", message, [
    "role",
    "content",
    "tool_calls",
    "reasoning_content",
    "refusal",
    "name",
  ]);
  const { content, tool_calls: calls, reasoning_content: reasoning } = message;
  if (!content && !calls) yield "assistant: content or tool_calls is required";
  if (calls?.length === 0) yield "assistant: tool_calls must not be empty";
  for (const call of calls ?? []) yield* checkCall(call, { model, issued });
  const thought = (parts: Json) =>
    parts.map((part: Json) => (part.type === "reasoning" ? part.text : "")).join("");
  const isOwn = issued.some((answer) => answer.model === model && thought(answer.parts) === reasoning);
  if (reasoning !== undefined && !isOwn) yield "assistant: reasoning_content is not this model's own";
}

function* checkCall(call: Json, { model, issued }: StrictContext): Iterable<string> {
  yield* checkFields("tool_calls", call, ["id", "type", "function"]);
  if (typeof call.id !== "string" || call.id === "") yield "tool_calls: id is required";
  if (call.type !== "function") yield "tool_calls: type must be function";
  const { name, arguments: input } = call.function;
  // A server accepts tool names that its own model invented.
  const isOwn = (part: AssistantPart) => part.type === "tool-call" && part.tool === name;
  const isInvented = issued.some((answer) => answer.model === model && answer.parts.some(isOwn));
  if (!toolName.test(name) && !isInvented) yield `tool_calls: "${name}" does not match ${toolName}`;
  if (typeof input !== "string") yield "tool_calls: arguments must be text";
}

/** Results follow their calls immediately, one each. */
function* checkOrder(messages: readonly Json[]): Iterable<string> {
  let waiting: string[] = [];
  const seen = new Set<string>();
  for (const { role, tool_calls: calls = [], tool_call_id: id } of messages) {
    if (role === "tool") {
      if (!waiting.includes(id)) yield `tool: "${id}" answers no preceding call`;
      waiting = waiting.filter((one) => one !== id);
      continue;
    }
    if (waiting.length > 0) yield `tool_calls ${waiting} did not have response messages`;
    waiting = calls.map((call: Json) => call.id);
    for (const one of waiting) {
      if (seen.has(one)) yield `tool_calls: duplicate id ${one}`;
      seen.add(one);
    }
  }
  if (waiting.length > 0) yield `tool_calls ${waiting} did not have response messages`;
}
