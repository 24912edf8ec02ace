/** Anthropic messages. */
import type { AnthropicLanguageModelOptions } from "@ai-sdk/anthropic";
import type { JSONObject } from "@ai-sdk/provider";
import { objectInput, plainName, shortId } from "./call-fit.ts";
import { effortOf } from "./effort-of.ts";
import { promptOf } from "./prompt.ts";
import type { Endpoint, Unread, Wire } from "./wire.ts";

export const anthropicWire: Wire = {
  async open({ baseUrl, apiKey, authToken, headers, fetch, model }) {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    const baseURL = /\/v\d+$/.test(baseUrl) ? baseUrl : `${baseUrl}/v1`;
    const credentials = !apiKey && authToken ? { authToken } : { apiKey: apiKey ?? "" };
    return createAnthropic({ baseURL, ...credentials, headers: { ...headers }, fetch })(model);
  },
  options: (request, endpoint) => ({
    ...(takesEffort.test(endpoint.model) && effortOf(request, endpoint)),
    ...promptOf(request, {
      provider: endpoint.provider,
      cacheMark: { anthropic: { cacheControl: { type: "ephemeral" } } },
      call: ({ input }) => ({ input: objectInput(input) }),
      callId: shortId(64),
      toolName: plainName,
      refusesBlank: true,
      imageTypes: ["image/png", "image/jpeg", "image/webp", "image/gif"],
    }),
    providerOptions: { anthropic: habits(endpoint) },
  }),
  unread,
};

function habits({ baseUrl, model }: Endpoint): JSONObject {
  // Without eager streaming the API is silent while it buffers a long input, which looks like a stall.
  // Servers that only imitate the API may not know the field.
  const toolStreaming = new URL(baseUrl).hostname === "api.anthropic.com";
  return preservesThinking.test(model) ? { toolStreaming, thinking } : { toolStreaming };
}

/**
 * Earlier models think within a budget on top of the answer's limit, which no cap would include, and need it
 * in every answer or in none.
 */
const takesEffort = /^claude-[a-z]+-(?:4[.-][6-9]|[5-9])(?:\D|$)/;

/**
 * Models that write reasoning between their calls, hide it by default, and check the prefix it was bound to.
 */
const preservesThinking = /^claude-[a-z]+-(?:5[.-][1-9]|[6-9])(?:\D|$)/;

/** A compaction or another mode changes that prefix: then only the reasoning is lost, not the session. */
const thinking = {
  type: "adaptive",
  display: "summarized",
  blockBinding: { prefixMismatchBehavior: "drop_block" },
} as const satisfies AnthropicLanguageModelOptions["thinking"];

const events: ReadonlySet<unknown> = new Set([
  "message_start",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
  "ping",
  "error",
]);

/** The API adds event types without notice; servers that imitate it omit the usage. */
function unread(value: unknown): Unread {
  const { type, usage, delta } = value as Readonly<Record<string, unknown>>;
  if (typeof type === "string" && !events.has(type)) return "skip";
  if (type !== "message_delta" || usage) return "broken";
  const reason = reasons[String((delta as { stop_reason?: unknown } | undefined)?.stop_reason)];
  return reason ? { reason } : "broken";
}

const reasons: Readonly<Record<string, "stop" | "tool-calls" | "length">> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool-calls",
  max_tokens: "length",
};
