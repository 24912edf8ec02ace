/** The providers that are known by name: where they are, what they speak, and what their variables are called. */
import type { WireName } from "./wire.ts";

export interface Provider {
  readonly wire: WireName;
  readonly baseUrl: string;
  /** Environment variables that hold the key, the usual one first; empty for servers that need none. */
  readonly keyVariables: readonly string[];
  /** Those that hold a token to be sent as `Authorization: Bearer` where no key is set. */
  readonly tokenVariables?: readonly string[];
  /** Those that hold another address, the usual one first. */
  readonly baseUrlVariables?: readonly string[];
  /** The model for those who have a key and chose none; an id of the catalogue. */
  readonly defaultModel?: string;
  /** What model ids of this provider start with when nobody wrote the provider. */
  readonly prefixes: readonly string[];
}

/** The first whose key is set is the one used by default. */
export const providers: Readonly<Record<string, Provider>> = {
  anthropic: {
    wire: "anthropic",
    baseUrl: "https://api.anthropic.com",
    keyVariables: ["ANTHROPIC_API_KEY"],
    tokenVariables: ["ANTHROPIC_AUTH_TOKEN"],
    baseUrlVariables: ["ANTHROPIC_BASE_URL"],
    defaultModel: "anthropic/claude-sonnet-5-5",
    prefixes: ["claude-"],
  },
  openai: {
    wire: "responses",
    baseUrl: "https://api.openai.com/v1",
    keyVariables: ["OPENAI_API_KEY"],
    baseUrlVariables: ["OPENAI_BASE_URL"],
    defaultModel: "openai/gpt-6.1-sol",
    prefixes: ["gpt-", "o1", "o3", "o4", "codex-"],
  },
  google: {
    wire: "gemini",
    baseUrl: "https://generativelanguage.googleapis.com",
    keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
    baseUrlVariables: ["GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"],
    defaultModel: "google/gemini-3.8-flash",
    prefixes: ["gemini-"],
  },
  xai: chat("https://api.x.ai/v1", "XAI_API_KEY", "grok-"),
  moonshotai: chat("https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", "kimi-"),
  zai: chat("https://api.z.ai/api/paas/v4", "ZAI_API_KEY", "glm-"),
  deepseek: chat("https://api.deepseek.com", "DEEPSEEK_API_KEY", "deepseek-"),
  minimax: chat("https://api.minimax.io/v1", "MINIMAX_API_KEY", "MiniMax-"),
  qwen: chat("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY", "qwen"),
  openrouter: chat("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
  groq: chat("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
  mistral: chat("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
  ollama: local("http://127.0.0.1:11434/v1"),
  lmstudio: local("http://127.0.0.1:1234/v1"),
  vllm: local("http://127.0.0.1:8000/v1"),
  llamacpp: local("http://127.0.0.1:8080/v1"),
};

function chat(baseUrl: string, keyVariable: string, ...prefixes: readonly string[]): Provider {
  return { wire: "chat", baseUrl, keyVariables: [keyVariable], prefixes };
}

function local(baseUrl: string): Provider {
  return { wire: "chat", baseUrl, keyVariables: [], prefixes: [] };
}
