/** @lathe/search: exact retrieval over a folder. */
export { createSearch, type SearchOptions } from "./src/create-search.ts";
export type { EmbeddingSettings } from "./src/embedding-settings.ts";
