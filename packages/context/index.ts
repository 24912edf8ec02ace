/** @lathe/context: what the model sees. */
export { assemble, estimateTokens } from "./src/assemble.ts";
export { type EditDialect, offeredTools, type Profile, profileOf } from "./src/profile.ts";
export { type PromptInput, systemPrompt } from "./src/system-prompt.ts";
