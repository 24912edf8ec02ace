/** OpenAI responses, as the wire server speaks them. */
import type { AssistantPart, Message, UserMessage } from "@lathe/protocol";
import { checkResponses } from "./strict-responses.ts";
import {
  event,
  type Frame,
  type Json,
  pieces,
  shownResult,
  signed,
  type WireFormat,
  type WireReply,
} from "./wire-server-format.ts";

export const responsesFormat: WireFormat = {
  path: /\/responses$/,
  write: (reply) => [
    frame("start", {
      type: "response.created",
      response: { id: "resp_1", created_at: 1, model: reply.model },
    }),
    ...reply.parts.flatMap((part, index) => item(part, index, reply.custom)),
    frame("end", ended(reply)),
  ],
  read: (body) => ({
    system:
      body.input[0]?.role === "developer" || body.input[0]?.role === "system" ? body.input[0].content : "",
    tools: (body.tools ?? []).map((tool: Json) => tool.name),
    messages: grouped(body.input.filter((one: Json) => one.role !== "developer" && one.role !== "system")),
  }),
  strict: checkResponses,
  ping: ": keep-alive\n\n",
  unknown: event({ type: "response.mood.delta", mood: "fine" }, "response.mood.delta"),
  broken: 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","del\n\n',
  overloaded: event(
    {
      type: "error",
      sequence_number: 9,
      error: { type: "server_error", code: "server_error", message: "overloaded" },
    },
    "error",
  ),
  errorEvent(code) {
    const response = { id: "resp_1", error: { code, message: "no luck" }, status: "failed" };
    return event({ type: "response.failed", sequence_number: 9, response }, "response.failed");
  },
  errorBody: (status, message) => ({
    error: { message, type: status === 429 ? "rate_limit_error" : "server_error", param: null, code: null },
  }),
};

function frame(of: Frame["of"], data: Json): Frame {
  return { of, text: event(data, data.type) };
}

function ended({ reason, usage }: WireReply): Json {
  const incomplete = { length: "max_output_tokens", refused: "content_filter" }[reason as string];
  const tokens = usage && {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
  };
  const type = incomplete ? "response.incomplete" : "response.completed";
  const details = incomplete ? { incomplete_details: { reason: incomplete } } : {};
  return { type, response: { id: "resp_1", ...details, ...(tokens ? { usage: tokens } : {}) } };
}

function item(part: AssistantPart, index: number, custom: readonly string[]): readonly Frame[] {
  const lines = linesOf(part, index, custom);
  return lines.map((line) => frame(part.type, { output_index: index, ...line }));
}

function linesOf(part: AssistantPart, index: number, custom: readonly string[]): readonly Json[] {
  switch (part.type) {
    case "text":
      return message(part, index);
    case "tool-call":
      return custom.includes(part.tool) ? customCall(part, index) : call(part, index);
    case "reasoning":
      return thought(part, index);
  }
}

function message(part: AssistantPart & { type: "text" }, index: number): readonly Json[] {
  const id = `msg_${index}`;
  const base = { id, type: "message", role: "assistant", status: "completed" };
  return [
    { type: "response.output_item.added", item: { ...base, status: "in_progress", content: [] } },
    ...pieces(part.text, 7).map((delta) => ({
      type: "response.output_text.delta",
      item_id: id,
      content_index: 0,
      delta,
    })),
    {
      type: "response.output_item.done",
      item: { ...base, content: [{ type: "output_text", text: part.text, annotations: [] }] },
    },
  ];
}

function call(part: AssistantPart & { type: "tool-call" }, index: number): readonly Json[] {
  const base = { id: `fc_${index}`, type: "function_call", call_id: part.id, name: part.tool };
  const delta = { type: "response.function_call_arguments.delta", item_id: base.id };
  return [
    { type: "response.output_item.added", item: { ...base, status: "in_progress", arguments: "" } },
    ...pieces(part.input, 5).map((text) => ({ ...delta, delta: text })),
    { type: "response.function_call_arguments.done", item_id: base.id, arguments: part.input },
    { type: "response.output_item.done", item: { ...base, status: "completed", arguments: part.input } },
  ];
}

/** Sends the single argument unchanged. */
function customCall(part: AssistantPart & { type: "tool-call" }, index: number): readonly Json[] {
  const [input = ""] = Object.values(JSON.parse(part.input)) as readonly string[];
  const base = { id: `ctc_${index}`, type: "custom_tool_call", call_id: part.id, name: part.tool };
  const delta = { type: "response.custom_tool_call_input.delta", item_id: base.id };
  return [
    { type: "response.output_item.added", item: { ...base, status: "in_progress", input: "" } },
    ...pieces(input, 5).map((text) => ({ ...delta, delta: text })),
    { type: "response.custom_tool_call_input.done", item_id: base.id, input },
    { type: "response.output_item.done", item: { ...base, status: "completed", input } },
  ];
}

function thought(part: AssistantPart & { type: "reasoning" }, index: number): readonly Json[] {
  const own = signed(part, "openai");
  const base = { id: own.itemId ?? `rs_${index}`, type: "reasoning" };
  const place = { item_id: base.id, summary_index: 0 };
  const summary = [{ type: "summary_text", text: part.text }];
  return [
    { type: "response.output_item.added", item: { ...base, summary: [] } },
    { type: "response.reasoning_summary_part.added", ...place },
    ...pieces(part.text, 7).map((delta) => ({
      type: "response.reasoning_summary_text.delta",
      ...place,
      delta,
    })),
    { type: "response.reasoning_summary_part.done", ...place },
    {
      type: "response.output_item.done",
      item: { ...base, summary, encrypted_content: own.reasoningEncryptedContent ?? null },
    },
  ];
}

/** The wire has one item per part. */
function grouped(items: readonly Json[]): readonly Message[] {
  const whole: { role: string; parts: Json[] }[] = [];
  for (const one of items) {
    const [role, parts] = readItem(one);
    const last = whole.at(-1);
    if (last?.role === role && role !== "user") last.parts.push(...parts);
    else whole.push({ role, parts: [...parts] });
  }
  return whole as unknown as readonly Message[];
}

function readItem(one: Json): readonly [string, readonly Json[]] {
  switch (one.type) {
    case "function_call":
      return ["assistant", [{ type: "tool-call", id: one.call_id, tool: one.name, input: one.arguments }]];
    case "custom_tool_call":
      return ["assistant", [{ type: "tool-call", id: one.call_id, tool: one.name, input: one.input }]];
    case "custom_tool_call_output":
    case "function_call_output":
      return ["tool", [resultPart(one)]];
    case "reasoning": {
      const own = { itemId: one.id, reasoningEncryptedContent: one.encrypted_content };
      const text = one.summary.map((part: Json) => part.text).join("");
      const signature = JSON.stringify({ openai: own });
      return ["assistant", [{ type: "reasoning", text, provider: "openai", signature }]];
    }
    default:
      return [one.role, typeof one.content === "string" ? [said(one.content)] : one.content.map(contentPart)];
  }
}

/** A failed result is sent as JSON. */
function resultPart({ call_id: id, output }: Json): Json {
  if (typeof output !== "string") return shownResult(id, output.map(contentPart));
  const error = /^\{"error":/.test(output) ? JSON.parse(output).error : undefined;
  return { type: "tool-result", id, tool: "", text: error ?? output, failed: error !== undefined };
}

function said(text: string): { readonly type: "text"; readonly text: string } {
  return { type: "text", text };
}

function contentPart(part: Json): UserMessage["parts"][number] {
  if (part.type !== "input_image") return said(part.text);
  const [, mediaType = "", base64 = ""] = /^data:([^;]+);base64,(.*)$/s.exec(part.image_url) ?? [];
  return { type: "image", mediaType, base64 };
}
