/** Providers' messages about a conversation that is too long, and similar ones. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isOverflow } from "./overflow.ts";

const overflows: readonly (readonly [number, string])[] = [
  [400, "prompt is too long: 210000 tokens > 200000 maximum [invalid_request_error]"],
  [400, "input length and `max_tokens` exceed context limit: 199759 + 20000 > 200000"],
  [413, "Request exceeds the maximum size [request_too_large]"],
  [429, "Extra usage is required for long context requests. [rate_limit_error]"],
  [400, "Your input exceeds the context window of this model. [context_length_exceeded]"],
  [
    400,
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
  ],
  [
    429,
    "Request too large for gpt-6-sol on tokens per min (TPM): Limit 30000, Requested 40000. [rate_limit_exceeded]",
  ],
  [
    400,
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576). [INVALID_ARGUMENT]",
  ],
  [400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
  [400, "Please reduce the length of the messages or completion."],
  [400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"],
  [
    400,
    "the request exceeds the available context size (4096 tokens), try increasing it [exceed_context_size_error]",
  ],
  [400, "The number of tokens to keep from the initial prompt is greater than the context length"],
  [500, "prompt too long; exceeded max context length by 123 tokens"],
  [400, "The decoder prompt (length 5000) is longer than the maximum model length of 4096."],
  [400, "The input (5000 tokens) is longer than the model's context length (4096 tokens)."],
  [400, "Input is too long for requested model."],
  [400, "Invalid request: Your request exceeded model token limit: 262144"],
  [400, "Prompt exceeds max length [1261]"],
  [400, "invalid params, context window exceeds limit (2013)"],
  [400, "Range of input length should be [1, 129024]"],
  [400, "prompt token count of 135000 exceeds the limit of 128000"],
];

const others: readonly (readonly [number, string])[] = [
  [429, "This request would exceed your organization's rate limit of 30,000 input tokens per minute"],
  [400, "max_tokens: 999999 > 64000, which is the maximum allowed number of output tokens"],
  [400, "messages.3: tool_use ids were found without tool_result blocks immediately after"],
  [400, "image exceeds 5 MB maximum"],
  [500, "Internal server error"],
  [401, "prompt is too long"],
  [400, "string too long. Expected a string with maximum length 64"],
];

describe("overflow", () => {
  for (const [status, said] of overflows) {
    it(`is ${status}: ${said.slice(0, 60)}`, () => assert.equal(isOverflow(status, said), true));
  }
  for (const [status, said] of others) {
    it(`is not ${status}: ${said.slice(0, 60)}`, () => assert.equal(isOverflow(status, said), false));
  }
});
