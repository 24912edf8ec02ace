/** @lathe/context: what the model sees. */
export { assemble, estimateTokens } from "./src/assemble.ts";
export { type PromptInput, systemPrompt } from "./src/system-prompt.ts";
