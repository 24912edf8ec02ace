/** Finds a model's address and wire: from the table of known providers, and the user's settings over it. */
import { type Failure, failure, isFailure, type ModelInfo } from "@lathe/protocol";
import { type TokenSource, withBearer } from "./bearer.ts";
import { entryOf, plain } from "./catalogue/find-entry.ts";
import type { ModelId } from "./model-id.ts";
import { type Family, type Provider, providers } from "./providers.ts";
import type { Endpoint, WireName } from "./wires/wire.ts";

/** One provider in the user's settings; absent fields come from the table of known providers. */
export interface ProviderOptions {
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** A bearer token in place of a key. */
  readonly authToken?: string;
  /** Short-lived bearer tokens, in place of a key. */
  readonly tokens?: TokenSource;
  readonly headers?: Readonly<Record<string, string>>;
  readonly wire?: WireName;
}

export interface Placing {
  readonly set: ProviderOptions;
  readonly entries: readonly ModelInfo[];
  readonly fetch: typeof globalThis.fetch;
}

export interface Placed {
  readonly endpoint: Endpoint;
  readonly wire: WireName;
  /** Secrets that must not be shown; tokens are added as they arrive. */
  readonly secrets: readonly string[];
}

export function placeModel({ provider, model }: ModelId, placing: Placing): Placed | Failure {
  const { set, entries } = placing;
  const known = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  const address = addressOf(provider, set, known);
  if (isFailure(address)) return address;
  const isOfficial =
    known !== undefined && (known.isOwn === true || hostOf(address) === hostOf(known.baseUrl));
  const unkeyed = isOfficial ? missingKey(provider, set, known) : undefined;
  if (unkeyed) return unkeyed;
  const family = known?.families?.find(({ models }) => models.test(model));
  const secrets = secretsOf(set);
  return {
    wire: set.wire ?? family?.wire ?? wireAt(known, isOfficial),
    secrets,
    endpoint: {
      provider,
      model: isOfficial ? spelled(`${provider}/${model}`, entries).slice(provider.length + 1) : model,
      reasons: entryOf(`${provider}/${model}`, entries)?.reasoning,
      baseUrl: `${address}${family?.path ?? ""}`,
      ...credentials(placing, family ?? known, secrets),
      keyVariable: known?.keyVariables[0] ?? `the key of ${provider}`,
      headers: set.headers ?? {},
    },
  };
}

/** The address without a slash at its end. */
function addressOf(provider: string, set: ProviderOptions, known: Provider | undefined): string | Failure {
  const address = (set.baseUrl ?? known?.baseUrl)?.replace(/\/+$/, "");
  const open = [...(address ?? "").matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  if (open.length > 0) {
    const todo = `Set ${open.join(" and ")}, or its base URL in your configuration`;
    return failure("config-invalid", `Provider ${provider}: where it is depends on you. ${todo}`, {
      who: "user",
    });
  }
  if (address && URL.canParse(address)) return address;
  const what = address ? `"${address}" is no URL` : "it is no known provider";
  return failure("config-invalid", `Provider ${provider}: ${what}. Set its base URL`, { who: "user" });
}

function missingKey(provider: string, set: ProviderOptions, known: Provider): Failure | undefined {
  if (known.keyVariables.length === 0 || set.apiKey || set.authToken || set.tokens) return undefined;
  const variables = [...known.keyVariables, ...(known.tokenVariables ?? [])].join(" or ");
  const text = `There is no key for ${provider}. Set ${variables}, or choose another model`;
  return failure("unauthorized", text, { who: "user" });
}

/** Clouds take their keys as bearer tokens, wherever the wire usually sends keys. */
function credentials(
  { set, fetch }: Placing,
  manner: Pick<Provider | Family, "isBearer"> | undefined,
  secrets: string[],
): Pick<Endpoint, "apiKey" | "authToken" | "fetch"> {
  const fixed = manner?.isBearer ? (set.apiKey ?? set.authToken) : undefined;
  if (set.tokens) return { apiKey: undefined, fetch: withBearer(fetch, set.tokens, secrets) };
  if (fixed) return { apiKey: undefined, fetch: withBearer(fetch, async () => fixed, secrets) };
  return { apiKey: set.apiKey, ...(set.authToken && { authToken: set.authToken }), fetch };
}

/** Servers that imitate OpenAI speak chat completions, even after OpenAI has moved on. */
function wireAt(known: Provider | undefined, isOfficial: boolean): WireName {
  if (!known) return "chat";
  return known.wire === "responses" && !isOfficial ? "chat" : known.wire;
}

/** Empty if it still depends on the user. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}

/** The provider's own spelling of a known id. */
function spelled(id: string, entries: readonly ModelInfo[]): string {
  if (entries.some((entry) => entry.id === id)) return id;
  return entries.find((entry) => plain(entry.id) === plain(id))?.id ?? id;
}

/** A provider's secrets in the settings; for a header like `Bearer KEY` only the key. */
export function secretsOf({ apiKey, authToken, headers = {} }: ProviderOptions): string[] {
  const secret = Object.entries(headers).filter(([name]) => /auth|key|token|secret|cookie/i.test(name));
  const values = secret.map(([, value]) => value.replace(/^\w+ /, ""));
  return [...[apiKey, authToken].flatMap((one) => one || []), ...values];
}
