/**
 * Overflow: whether a provider rejects a request because the conversation is too long; every provider words
 * it differently.
 */

/**
 * Anthropic, OpenAI, Gemini, Bedrock, xAI, Groq, Mistral, Moonshot, Z.ai, MiniMax, Qwen, Copilot and the servers that
 * speak OpenAI's wire: llama.cpp, LM Studio, Ollama, SGLang, vLLM.
 */
const wordings = [
  /context_length_exceeded|exceed_context_size|model_context_window_exceeded|request_too_large/,
  /(?:prompt|input) is too long/i,
  /prompt too long/i,
  /exceed(?:s|ed)? (?:the |max )?(?:model'?s )?(?:maximum )?(?:context|available context)/i,
  /maximum (?:context|prompt|model) length/i,
  /longer than the (?:model'?s )?(?:context|maximum)/i,
  /context (?:window|length|limit|size).{0,40}(?:exceed|too (?:long|large))/i,
  /greater than the context length|context the overflows/i,
  /(?:input|prompt) token count.{0,40}exceeds/i,
  /exceed(?:s|ed)? (?:the )?(?:model|max(?:imum)?) (?:token limit|length)/i,
  /range of input length should be/i,
  /too large for model|reduce the length of the (?:messages|prompt|input)/i,
];

/**
 * A token limit per minute that one request alone exceeds, and one on long contexts: waiting does not help.
 */
const neverFits = /request too large|long context requests/i;

export function isOverflow(status: number, said: string): boolean {
  if (status === 413) return true;
  if (status === 429) return neverFits.test(said);
  // Some servers notice only after they have begun, and report it as their own failure.
  return [400, 422, 500].includes(status) && wordings.some((wording) => wording.test(said));
}
