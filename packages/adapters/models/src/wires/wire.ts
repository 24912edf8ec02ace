/** What one wire gives the gateway: a language model of its provider package, and the wire's own habits. */
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { ModelRequest, ToolCallPart } from "@lathe/protocol";

export type WireName = "anthropic" | "chat" | "responses" | "gemini";

/** Where a model is served, all defaults filled in. */
export interface Endpoint {
  /** The first part of a model id. */
  readonly provider: string;
  /** The rest of it, as it goes over the wire. */
  readonly model: string;
  /** Whether it thinks before it answers; undefined where the catalogue does not say. */
  readonly reasons: boolean | undefined;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** Sent as `Authorization: Bearer` in place of a key, by the wires whose keys go elsewhere. */
  readonly authToken?: string;
  /** The environment variable that a person sets to give the key; for texts only. */
  readonly keyVariable: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
}

/**
 * What to do about an event that the provider package could not read: `broken` ends the attempt, `skip` loses
 * nothing, and `reason` means only that the answer's usage is lost.
 */
export type Unread = "broken" | "skip" | { readonly reason?: "stop" | "tool-calls" | "length" };

export interface Wire {
  /** *Contract:* may throw only when the provider package itself cannot be loaded. */
  open(endpoint: Endpoint): Promise<LanguageModelV4>;
  /** *Contract:* pure; the order and the bytes of what is sent depend on the request alone. */
  options(request: ModelRequest, endpoint: Endpoint): LanguageModelV4CallOptions;
  /** *Contract:* pure; a call's input as messages keep it, where the package hands it over in another form. */
  inputOf?(call: Pick<ToolCallPart, "tool" | "input">, request: ModelRequest): string;
  /** *Contract:* pure; `value` is the event as parsed JSON. */
  unread(value: unknown): Unread;
}
