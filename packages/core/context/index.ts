/** @lathe/context: what the model sees. */
export { assemble, estimateTokens, partTokens, textTokens } from "./src/assemble.ts";
export { maxTokens } from "./src/compaction/room.ts";
export { type ContextExcess, contextExcess, shortenableExcess } from "./src/excess.ts";
export { guardRailsOf } from "./src/guard-rails.ts";
export type { EditDialect, Profile } from "./src/profiles/profile.ts";
export { profileOf } from "./src/profiles/profile-of.ts";
export { profiles } from "./src/profiles/profiles.ts";
export { promptFor } from "./src/prompt-for.ts";
export { type PromptInput, surroundingsText } from "./src/system-prompt.ts";
export { type Handover, takeOver } from "./src/take-over.ts";
