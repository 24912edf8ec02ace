/** Opens the user's embedding server when it is first needed. */
import { type Embedder, type Failure, failure } from "@lathe/protocol";
import type { EmbeddingSettings } from "@lathe/search";
import type { Env } from "@lathe/system";
import { proxiesOf } from "../models/model-gateway.ts";

export interface OpenedEmbedder extends Embedder {
  close(): void;
}

export async function openEmbedding(
  settings: EmbeddingSettings,
  env: Env,
): Promise<OpenedEmbedder | Failure> {
  const { openEmbedder } = await import("@lathe/models/embeddings");
  const { url, model, apiKeyEnv, dimensions, queryPrefix, passagePrefix } = settings;
  const apiKey = apiKeyEnv === undefined ? undefined : env[apiKeyEnv];
  if (apiKeyEnv !== undefined && !apiKey) {
    const text = `search.embeddings.apiKeyEnv names ${apiKeyEnv}, which is not set: set it, or leave the key out`;
    return failure("config-invalid", text, { who: "user" });
  }
  return openEmbedder({
    baseUrl: url,
    model,
    proxies: proxiesOf(env),
    ...(apiKey && apiKeyEnv !== undefined && { apiKey, keyVariable: apiKeyEnv }),
    ...(dimensions !== undefined && { dimensions }),
    ...(queryPrefix !== undefined && { queryPrefix }),
    ...(passagePrefix !== undefined && { passagePrefix }),
  });
}

/** For a search, which continues without embeddings if the server cannot be opened. */
export function lazyEmbedder(
  settings: EmbeddingSettings | undefined,
  env: Env,
): { readonly embedder?: () => Promise<Embedder | Failure> } {
  return settings ? { embedder: () => openEmbedding(settings, env) } : {};
}
