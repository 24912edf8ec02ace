/** Finds the provider of a model id, given or implied. */
import type { ModelInfo } from "@lathe/protocol";
import { plain } from "./catalogue/find-entry.ts";
import { providers } from "./providers.ts";

export interface ModelId {
  readonly provider: string;
  readonly model: string;
}

/** Undefined if no provider is given and none can be guessed. */
export function readModelId(
  text: string,
  known: { readonly providers: readonly string[]; readonly entries: readonly ModelInfo[] },
): ModelId | undefined {
  const slash = text.indexOf("/");
  const first = text.slice(0, slash);
  if (slash > 0 && (known.providers.includes(first) || Object.hasOwn(providers, first))) {
    return { provider: first, model: text.slice(slash + 1) };
  }
  if (slash >= 0) return undefined;
  const entry = known.entries.find(({ id }) => plain(id.slice(id.indexOf("/") + 1)) === plain(text));
  if (entry) return { provider: entry.id.slice(0, entry.id.indexOf("/")), model: text };
  const guess = Object.entries(providers).find(([, { prefixes }]) =>
    prefixes.some((prefix) => text.startsWith(prefix)),
  );
  return guess && text !== "" ? { provider: guess[0], model: text } : undefined;
}
