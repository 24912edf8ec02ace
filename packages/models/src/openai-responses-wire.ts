/** OpenAI responses, stateless: nothing is stored there, reasoning travels encrypted. */
import type { OpenAILanguageModelResponsesOptions } from "@ai-sdk/openai";
import { jsonInput, plainName, shortId } from "./call-fit.ts";
import { promptOf } from "./prompt.ts";
import type { Wire } from "./wire.ts";

export const openaiResponsesWire: Wire = {
  async open({ baseUrl, apiKey, headers, fetch, model }) {
    const { createOpenAI } = await import("@ai-sdk/openai");
    return createOpenAI({ baseURL: baseUrl, apiKey: apiKey ?? "", headers: { ...headers }, fetch }).responses(
      model,
    );
  },
  options: (request, { provider }) => ({
    ...promptOf(request, {
      provider,
      call: ({ input }) => ({ input: jsonInput(input) }),
      callId: shortId(64),
      toolName: plainName,
    }),
    providerOptions: {
      openai: {
        store: false,
        promptCacheKey: request.cacheKey,
        include: ["reasoning.encrypted_content"],
      } satisfies OpenAILanguageModelResponsesOptions,
    },
  }),
  // The package reads unknown event types itself.
  unread: () => "broken",
};
