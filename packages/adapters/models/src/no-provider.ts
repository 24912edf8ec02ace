/** No provider: the hint shown when no known provider serves a model. */
import { type Failure, failure } from "@lathe/protocol";
import { readModelId } from "./model-id.ts";
import { providers } from "./providers.ts";

interface KnownProviders {
  /** Providers in the user's own configuration. */
  readonly providers: readonly string[];
  readonly near?: readonly string[];
}

export function noProvider(id: string, { providers: own, near = [] }: KnownProviders): Failure {
  const like = near.length > 0 ? ` Known ids like it: ${near.join(", ")}.` : "";
  const text = `No provider is known for "${id}".${like} ${/^[^/]+\/./u.test(id) ? otherProvider(id, own) : example}`;
  return failure("model-unknown", text, { who: "user" });
}

/** The same for an id that names a provider, before anything is loaded; undefined if it may be fine. */
export function namesNoProvider(id: string, own: readonly string[]): Failure | undefined {
  if (!id.includes("/") || readModelId(id, { providers: own, entries: [] })) return undefined;
  return noProvider(id, { providers: own });
}

const example = "Write it as provider/model, for example anthropic/claude-sonnet-5-5";

function otherProvider(id: string, own: readonly string[]): string {
  const model = id.slice(id.indexOf("/") + 1);
  const names = [...new Set([...own, ...Object.keys(providers)])].join(", ");
  return `The providers are ${names}. A server with OpenAI's protocol is openai/${model} with OPENAI_BASE_URL, or one of "providers" in your configuration`;
}
