/** Requests that OpenAI's responses API documents as refused, if the request stores nothing. */
import {
  checkDataUrl,
  checkEncoding,
  checkFields,
  checkLimit,
  checkTools,
  findIssued,
  ownValue,
} from "./strict-wire.ts";
import type { Json, StrictCheck, StrictContext } from "./wire-server-format.ts";

const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const toolName = /^[a-zA-Z0-9_-]{1,64}$/;
const callId = /^.{1,64}$/s;

export const checkResponses: StrictCheck = function* (body, given) {
  const { input, tools = [] } = body;
  yield* checkEncoding(body);
  yield* checkLimit("max_output_tokens", body.max_output_tokens, [16, 128_000]);
  if (body.store !== false) yield "store: this check knows requests that store nothing";
  yield* checkTools(
    tools.map((tool: Json) => ({ name: tool.name, schema: tool.parameters })),
    toolName,
  );
  for (const tool of tools) yield* checkTool(tool);
  for (const [at, item] of input.entries()) {
    const isSystem = item.role === "system" || item.role === "developer";
    if (isSystem && at > 0) yield "input: the system message must come first";
    yield* checkItem(item);
    if (item.type === "reasoning") yield* checkReasoning(item, input[at + 1], given);
  }
  yield* checkPairs(input);
};

function* checkTool({ type, name, format }: Json): Iterable<string> {
  if (type === "custom") {
    const isGrammar =
      format?.type === "grammar" && format.syntax === "lark" && /^start:/m.test(format.definition);
    if (format !== undefined && !isGrammar) yield `tools: the grammar of ${name} has no start`;
  } else if (type !== "function") yield `tools: unknown type ${type}`;
}

function* checkItem(item: Json): Iterable<string> {
  switch (item.type) {
    case "function_call":
    case "custom_tool_call":
      return yield* checkCall(item);
    case "function_call_output":
    case "custom_tool_call_output":
      return yield* checkOutput(item.output);
    case "reasoning":
      return;
    default:
      yield* checkMessage(item);
  }
}

/** Prefixes of item ids. */
const prefixes: Readonly<Record<string, string>> = { function_call: "fc", custom_tool_call: "ctc" };

function* checkCall(item: Json): Iterable<string> {
  const { type, call_id, name, id, input, arguments: json } = item;
  yield* checkFields(type, item, ["type", "call_id", "name", "arguments", "input", "id", "status"]);
  const prefix = prefixes[type] ?? "";
  if (!callId.test(call_id)) yield `${type}: call_id "${call_id}" is empty or too long`;
  if (!toolName.test(name)) yield `${type}: name "${name}" does not match ${toolName}`;
  if (typeof (prefix === "fc" ? json : input) !== "string")
    yield `${type}: what it is called with must be text`;
  if (id !== undefined && !String(id).startsWith(prefix))
    yield `${type}: expected an ID that begins with '${prefix}'`;
}

function* checkOutput(output: Json): Iterable<string> {
  if (typeof output === "string") return;
  for (const part of output) yield* checkPart(part, "input_text");
}

function* checkMessage({ role, content, id }: Json): Iterable<string> {
  if (!["system", "developer", "user", "assistant"].includes(role)) yield `input: unknown role ${role}`;
  if (content.length === 0) yield `${role}: content must not be empty`;
  if (id !== undefined && !String(id).startsWith("msg"))
    yield "message: expected an ID that begins with 'msg'";
  const kind = role === "assistant" ? "output_text" : "input_text";
  for (const part of typeof content === "string" ? [] : content) yield* checkPart(part, kind);
}

function* checkPart(part: Json, kind: string): Iterable<string> {
  if (part.type === "input_image" && kind === "input_text") yield* checkDataUrl(part.image_url, imageTypes);
  else if (part.type !== kind) yield `content: ${part.type} is not allowed here`;
  else if (part.text === "") yield "content: text must not be empty";
}

const kinds: Readonly<Record<string, string>> = {
  function_call: "tool-call",
  custom_tool_call: "tool-call",
  reasoning: "reasoning",
};

/** A model's own reasoning, unchanged, followed by the item that it led to. */
function* checkReasoning(item: Json, next: Json, { model, issued }: StrictContext): Iterable<string> {
  const { id, encrypted_content: content, summary } = item;
  const found = findIssued(
    issued,
    (part) => ownValue(part, "openai", "reasoningEncryptedContent") === content,
  );
  if (!found || found.answer.model !== model)
    return yield `The encrypted content for item ${id} could not be verified`;
  const { part, answer, at } = found;
  if (ownValue(part, "openai", "itemId") !== id) yield `reasoning: the content is not of item ${id}`;
  const said = summary.map(({ text }: Json) => text).join("");
  if (part.type !== "reasoning" || part.text !== said) yield `reasoning: the summary of ${id} was changed`;
  const after = answer.parts[at + 1];
  const kind = next?.role === "assistant" ? "text" : (kinds[next?.type] ?? "none");
  if (after?.type !== kind)
    yield `Item '${id}' of type 'reasoning' was provided without its required following item`;
}

/** One output of its kind for each call, with only calls and outputs in between. */
function* checkPairs(input: readonly Json[]): Iterable<string> {
  const calls = input.filter(({ type }) => prefixes[type] !== undefined);
  const ids = calls.map(({ call_id: id }) => id);
  const twice = ids.find((id, at) => ids.indexOf(id) < at);
  if (twice !== undefined) yield `duplicate call_id ${twice}`;
  let waiting: readonly Json[] = [];
  for (const item of input) {
    if (prefixes[item.type] !== undefined) waiting = [...waiting, item];
    else if (String(item.type).endsWith("_output")) {
      const asked = waiting.find(
        (call) => call.call_id === item.call_id && `${call.type}_output` === item.type,
      );
      if (!asked) yield `No tool call found for ${item.type} with call_id ${item.call_id}`;
      waiting = waiting.filter((call) => call !== asked);
    } else if (item.type !== "reasoning") yield* checkNone(waiting);
  }
  yield* checkNone(waiting);
}

function* checkNone(waiting: readonly Json[]): Iterable<string> {
  for (const { call_id: id } of waiting) yield `No tool output found for function call ${id}`;
}
