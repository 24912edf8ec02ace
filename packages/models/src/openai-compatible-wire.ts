/** OpenAI chat completions, for any base URL: the language of local servers and of most other providers. */
import type { ToolCallPart } from "@lathe/protocol";
import { promptOf } from "./prompt.ts";
import { createUnknownFields, rawKey } from "./unknown-fields.ts";
import type { Endpoint, Unread, Wire } from "./wire.ts";

export const openaiCompatibleWire: Wire = {
  async open(endpoint) {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const provider = createOpenAICompatible({
      name: endpoint.provider,
      baseURL: endpoint.baseUrl,
      headers: { ...endpoint.headers },
      fetch: endpoint.fetch,
      includeUsage: true,
      metadataExtractor: {
        extractMetadata: async () => undefined,
        createStreamExtractor() {
          const fields = createUnknownFields();
          return {
            processChunk: fields.take,
            buildMetadata: () => ({ [rawKey]: fields.kept() }),
          };
        },
      },
      ...(endpoint.apiKey ? { apiKey: endpoint.apiKey } : {}),
      ...(isOpenai(endpoint) ? { transformRequestBody: renameLimit } : {}),
    });
    return provider.chatModel(endpoint.model);
  },
  options: (request, endpoint) => ({
    ...promptOf(request, { provider: endpoint.provider, call: rawCall }),
    ...(isOpenai(endpoint)
      ? { providerOptions: { [endpoint.provider]: { prompt_cache_key: request.cacheKey } } }
      : {}),
  }),
  unread,
};

/** Other servers may reject fields that only OpenAI knows. */
function isOpenai({ baseUrl }: Endpoint): boolean {
  return new URL(baseUrl).hostname === "api.openai.com";
}

/** OpenAI's reasoning models reject `max_tokens`; local servers know nothing else. */
function renameLimit(body: Record<string, unknown>): Record<string, unknown> {
  const { max_tokens, ...rest } = body;
  return { ...rest, max_completion_tokens: max_tokens };
}

/** Text that is no JSON would be quoted once more; as metadata it passes byte for byte. */
function rawCall({ tool, input }: ToolCallPart): {
  readonly input: unknown;
  readonly providerOptions: {
    readonly openaiCompatible: { readonly function: { name: string; arguments: string } };
  };
} {
  return { input: {}, providerOptions: { openaiCompatible: { function: { name: tool, arguments: input } } } };
}

/** Servers send keep-alives and notes of their own between the chunks. */
function unread(value: unknown): Unread {
  const { choices, error } = value as Readonly<Record<string, unknown>>;
  return choices === undefined && error === undefined ? "skip" : "broken";
}
