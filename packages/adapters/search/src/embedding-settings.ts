/** Embedding settings: where the texts of files may be sent to be made vectors of. */

/** The user's alone: it says where texts of their files go. */
export interface EmbeddingSettings {
  /** As for chat completions, ending in `/v1`. */
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
