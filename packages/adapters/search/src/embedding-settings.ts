/** Embedding settings: where texts of files may be sent to compute vectors. */

/** Only the user's own settings: they say where file contents go. */
export interface EmbeddingSettings {
  /** The chat completions address, ending in `/v1`. */
  readonly url: string;
  readonly model: string;
  /** The environment variable that holds the key. */
  readonly apiKeyEnv?: string;
  readonly dimensions?: number;
  /** US dollars per million tokens. */
  readonly price?: number;
  readonly queryPrefix?: string;
  readonly passagePrefix?: string;
}
