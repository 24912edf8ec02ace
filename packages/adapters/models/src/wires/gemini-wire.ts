/** Gemini generateContent. */
import { googleName, objectInput } from "./call-fit.ts";
import { effortOf } from "./effort-of.ts";
import { promptOf } from "./prompt.ts";
import type { Unread, Wire } from "./wire.ts";

export const geminiWire: Wire = {
  async open({ baseUrl, apiKey, headers, fetch, model }) {
    const { createGoogle } = await import("@ai-sdk/google");
    const baseURL = /\/v\d\w*(?:\/|$)/.test(baseUrl) ? baseUrl : `${baseUrl}/v1beta`;
    return createGoogle({ baseURL, apiKey: apiKey ?? "", headers: { ...headers }, fetch })(model);
  },
  options: (request, endpoint) => ({
    ...effortOf(request, endpoint),
    ...promptOf(request, {
      provider: endpoint.provider,
      call: ({ input }) => ({ input: objectInput(input) }),
      toolName: googleName,
      imageTypes: ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
    }),
    ...(thinks.test(endpoint.model)
      ? { providerOptions: { google: { thinkingConfig: { includeThoughts: true } } } }
      : {}),
  }),
  unread,
};

/** Older models reject the setting. */
const thinks = /^gemini-(?:[3-9]|\d\d)/;

function unread(value: unknown): Unread {
  const { candidates, error } = value as Readonly<Record<string, unknown>>;
  return candidates === undefined && error === undefined ? "skip" : "broken";
}
