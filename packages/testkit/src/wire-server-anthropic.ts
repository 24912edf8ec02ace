/** Anthropic messages, as the wire server speaks them. */
import type { AssistantPart, FinishReason, Message, ToolResultPart, UserMessage } from "@lathe/protocol";
import { checkAnthropic } from "./strict-anthropic.ts";
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

const reasons: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  "tool-calls": "tool_use",
  length: "max_tokens",
  refused: "refusal",
};

export const anthropicFormat: WireFormat = {
  path: /\/v1\/messages$/,
  write: (reply) => [
    frame("start", started(reply)),
    frame("start", { type: "ping" }),
    ...reply.parts.flatMap(block),
    frame("end", {
      type: "message_delta",
      delta: { stop_reason: reasons[reply.reason], stop_sequence: null },
      ...(reply.usage ? { usage: { output_tokens: reply.usage.output } } : {}),
    }),
    frame("end", { type: "message_stop" }),
  ],
  read: (body) => ({
    system: (body.system ?? []).map((part: Json) => part.text).join(""),
    tools: (body.tools ?? []).map((tool: Json) => tool.name),
    messages: body.messages.flatMap(readMessage),
  }),
  strict: checkAnthropic,
  ping: event({ type: "ping" }, "ping"),
  unknown: event({ type: "mood_delta", mood: "fine" }, "mood_delta"),
  broken: 'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"te\n\n',
  overloaded: event({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, "error"),
  errorEvent: (type) => event({ type: "error", error: { type, message: "no luck" } }, "error"),
  errorBody: (status, message) => ({
    type: "error",
    error: { type: status === 429 ? "rate_limit_error" : "api_error", message },
  }),
};

function frame(of: Frame["of"], data: { readonly type: string } & Json): Frame {
  return { of, text: event(data, data.type) };
}

function started({ model, usage }: WireReply): Json {
  const { input = 0, cached = 0, written = 0 } = usage ?? {};
  const tokens = {
    input_tokens: input - cached - written,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
    output_tokens: 1,
  };
  const message = { id: "msg_1", type: "message", role: "assistant", model, content: [], stop_reason: null };
  return { type: "message_start", message: { ...message, usage: tokens } };
}

function block(part: AssistantPart, index: number): readonly Frame[] {
  const [start, deltas] = contents(part);
  return [
    frame(part.type, { type: "content_block_start", index, content_block: start }),
    ...deltas.map((delta: Json) => frame(part.type, { type: "content_block_delta", index, delta })),
    frame(part.type, { type: "content_block_stop", index }),
  ];
}

function contents(part: AssistantPart): readonly [Json, Json] {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: "" }, pieces(part.text, 7).map((text) => ({ type: "text_delta", text }))];
    case "tool-call":
      return [
        { type: "tool_use", id: part.id, name: part.tool, input: {} },
        pieces(part.input, 5).map((json) => ({ type: "input_json_delta", partial_json: json })),
      ];
    case "reasoning":
      return [
        { type: "thinking", thinking: "" },
        [
          ...pieces(part.text, 7).map((thinking) => ({ type: "thinking_delta", thinking })),
          { type: "signature_delta", signature: signed(part, "anthropic").signature ?? "none" },
        ],
      ];
  }
}

function readMessage({ role, content }: Json): readonly Message[] {
  if (role === "assistant") return [{ role, parts: content.map(assistantPart) }];
  const results = content.filter((part: Json) => part.type === "tool_result").map(resultPart);
  const said = content.filter((part: Json) => part.type !== "tool_result").map(userPart);
  return [
    ...(results.length > 0 ? [{ role: "tool" as const, parts: results }] : []),
    ...(said.length > 0 ? [{ role: "user" as const, parts: said }] : []),
  ];
}

function assistantPart(part: Json): AssistantPart {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "tool_use") {
    return { type: "tool-call", id: part.id, tool: part.name, input: JSON.stringify(part.input) };
  }
  const signature = JSON.stringify({ anthropic: { signature: part.signature } });
  return { type: "reasoning", text: part.thinking, provider: "anthropic", signature };
}

function userPart(part: Json): UserMessage["parts"][number] {
  if (part.type === "text") return { type: "text", text: part.text };
  return { type: "image", mediaType: part.source.media_type, base64: part.source.data };
}

/** The wire does not carry a result's tool. */
function resultPart(part: Json): ToolResultPart {
  if (typeof part.content !== "string") return shownResult(part.tool_use_id, part.content.map(userPart));
  return {
    type: "tool-result",
    id: part.tool_use_id,
    tool: "",
    text: part.content,
    failed: part.is_error === true,
  };
}
