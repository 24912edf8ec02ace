/** Embedder: the port to a model that turns texts into vectors, the nearer the more alike in meaning. */
import type { Failure } from "../failure.ts";

export interface EmbeddingResult {
  /** One for each text, in their order; all as long as each other. */
  readonly vectors: readonly Float32Array[];
  /** Of input, where the server says so. */
  readonly tokens?: number;
}

export interface Embedder {
  /** What vectors depend on: server, model and settings. Vectors of another one are not comparable. */
  readonly id: string;
  /** Where texts go, for people. */
  readonly place: string;
  /** *Contract:* never rejects; all vectors or a failure. Queries and passages may be told apart by the model. */
  embed(
    texts: readonly string[],
    asked: { readonly as: "query" | "passage"; readonly signal: AbortSignal },
  ): Promise<EmbeddingResult | Failure>;
}
