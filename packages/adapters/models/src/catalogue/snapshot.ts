/**
 * Model data without a request: a reviewed snapshot, 20 November 2026, from the providers' own pages if
 * readable, else from two registries that agree. `lathe models refresh` fetches newer data.
 */
import type { ModelInfo, Price, PriceTier } from "@lathe/protocol";

type Entry = Omit<ModelInfo, "id">;

const textOnly = { reasoning: true, tools: true, images: false } as const;
const seeing = { reasoning: true, tools: true, images: true } as const;
const plain = { reasoning: false, tools: true, images: false } as const;

/** One price for all sizes; only Haiku 5.5 charges five times as much above 100k. */
const claude: Entry = { window: 1_000_000, maxOutput: 128_000, ...seeing };
const gpt: Entry = { window: 1_050_000, maxOutput: 128_000, ...seeing };
const gemini: Entry = { window: 1_048_576, maxOutput: 65_536, ...seeing };
const qwen: Entry = { window: 1_000_000, maxOutput: 65_536, ...seeing };
const mistral: Entry = { window: 262_144, maxOutput: 262_144, ...plain };

const models: Readonly<Record<string, Readonly<Record<string, Entry>>>> = {
  anthropic: {
    "claude-fable-5-2": claude,
    "claude-fable-5-1": { ...claude, price: price(10, 50, { cached: 0.25, written: 12.5 }) },
    "claude-opus-5-5": { ...claude, price: price(4, 20, { cached: 0.2, written: 5 }) },
    "claude-opus-5": { ...claude, price: price(5, 25, { cached: 0.5, written: 6.25 }) },
    "claude-opus-4-8": { ...claude, price: price(5, 25, { cached: 0.5, written: 6.25 }) },
    "claude-sonnet-5-5": { ...claude, price: price(2, 10, { cached: 0.2, written: 2.5 }) },
    "claude-sonnet-5": { ...claude, price: price(2, 10, { cached: 0.2, written: 2.5 }) },
    "claude-sonnet-4-6": {
      ...claude,
      maxOutput: 64_000,
      price: price(3, 15, { cached: 0.3, written: 3.75 }),
    },
    "claude-haiku-5-5": {
      ...claude,
      price: tiered(price(0.1, 0.5, { cached: 0.01, written: 0.125 }), 100_000, { input: 5, output: 5 }),
    },
    "claude-haiku-4-5": {
      window: 200_000,
      maxOutput: 64_000,
      ...seeing,
      price: price(1, 5, { cached: 0.1, written: 1.25 }),
    },
  },
  openai: {
    "gpt-6.2-astra": { ...gpt, price: long(price(8, 40, { cached: 0.4, written: 10 })) },
    "gpt-6.2-sol": { ...gpt, price: long(price(2, 10, { cached: 0.1, written: 2.5 })) },
    "gpt-6.1-sol": { ...gpt, price: long(price(2, 10, { cached: 0.1, written: 2.5 })) },
    "gpt-6-astra": { ...gpt, price: long(price(10, 50, { cached: 1, written: 12.5 })) },
    "gpt-6-sol": { ...gpt, price: long(price(2, 10, { cached: 0.2, written: 2.5 })) },
    "gpt-6-luna": { ...gpt, price: long(price(0.1, 0.5, { cached: 0.01, written: 0.125 })) },
    "gpt-5.6-sol": { ...gpt, price: long(price(4, 20, { cached: 0.4, written: 5 })) },
    "gpt-5.6-terra": { ...gpt, price: long(price(2, 12, { cached: 0.2, written: 2.5 })) },
    "gpt-5.6-luna": { ...gpt, price: long(price(0.2, 1.2, { cached: 0.02, written: 0.25 })) },
    "gpt-5.5": { ...gpt, price: long(price(5, 30, { cached: 0.5, written: 5 })) },
    "gpt-5.4": { ...gpt, price: long(price(2.5, 15, { cached: 0.25, written: 2.5 })) },
    "gpt-5.3-codex": { ...gpt, window: 400_000, price: price(1.75, 14, { cached: 0.175, written: 1.75 }) },
  },
  google: {
    // Half price until the end of November 2026; amounts checked against a cap must never be too low.
    "gemini-4-argon": { ...gemini, price: price(4, 20, { cached: 0.2, written: 4 }) },
    "gemini-4-hydrogen": { ...gemini, price: price(1.5, 7.5, { cached: 1.5, written: 1.5 }) },
    "gemini-3.8-flash": { ...gemini, price: price(0.75, 3.75, { cached: 0.075, written: 0.75 }) },
    "gemini-3.5-flash": { ...gemini, price: price(1.5, 9, { cached: 0.15, written: 1.5 }) },
    "gemini-3.1-pro-preview": {
      ...gemini,
      price: tiered(price(2, 12, { cached: 0.2, written: 2 }), 200_000, { input: 2, output: 1.5 }),
    },
  },
  xai: {
    "grok-4.7": {
      window: 500_000,
      maxOutput: 200_000,
      ...seeing,
      price: tiered(price(2, 6, { cached: 0.5, written: 2 }), 200_000, { input: 2, output: 2 }),
    },
    "grok-4.3": {
      window: 1_000_000,
      maxOutput: 30_000,
      ...seeing,
      price: tiered(price(1.25, 2.5, { cached: 0.2, written: 1.25 }), 200_000, { input: 2, output: 2 }),
    },
  },
  moonshotai: {
    "kimi-k3.1-pro": {
      window: 256_000,
      maxOutput: 64_000,
      ...seeing,
      price: price(2, 10, { cached: 0.2, written: 2 }),
    },
    "kimi-k3": {
      window: 1_048_576,
      maxOutput: 131_072,
      ...seeing,
      price: price(3, 15, { cached: 0.3, written: 3 }),
    },
  },
  zai: {
    "glm-5.3": {
      window: 1_048_576,
      maxOutput: 131_072,
      ...textOnly,
      price: price(1.4, 4.4, { cached: 0.26, written: 1.4 }),
    },
  },
  deepseek: {
    // The price of peak hours; the rest of the day costs half.
    "deepseek-flash": {
      window: 1_000_000,
      maxOutput: 384_000,
      ...seeing,
      price: price(0.3, 1.2, { cached: 0.006, written: 0.3 }),
    },
  },
  minimax: {
    "MiniMax-M3.1-Flash": {
      window: 1_000_000,
      maxOutput: 64_000,
      ...seeing,
      price: price(0.15, 0.6, { cached: 0.015, written: 0.15 }),
    },
    "MiniMax-M3": {
      window: 1_000_000,
      maxOutput: 128_000,
      ...seeing,
      price: tiered(price(0.3, 1.2, { cached: 0.06, written: 0.3 }), 512_000, { input: 2, output: 2 }),
    },
  },
  qwen: {
    "qwen3.8-max": qwen,
    "qwen3.8-flash": { ...qwen, maxOutput: 131_072 },
    "qwen3.7-max": { ...qwen, ...textOnly, price: price(2.5, 7.5, { cached: 0.5, written: 3.125 }) },
  },
  mistral: {
    // The regular price; it is currently on sale for half.
    "mistral-large-4": {
      ...mistral,
      window: 1_000_000,
      price: price(1.36, 4.18, { cached: 0.14, written: 1.36 }),
    },
    "mistral-large-latest": {
      ...mistral,
      images: true,
      price: price(0.5, 1.5, { cached: 0.5, written: 0.5 }),
    },
    "codestral-latest": {
      window: 256_000,
      maxOutput: 4096,
      ...plain,
      price: price(0.3, 0.9, { cached: 0.3, written: 0.3 }),
    },
  },
  groq: {
    "openai/gpt-oss-120b": {
      window: 131_072,
      maxOutput: 65_536,
      ...textOnly,
      price: price(0.15, 0.6, { cached: 0.075, written: 0.15 }),
    },
  },
};

export const snapshot: readonly ModelInfo[] = Object.entries(models).flatMap(([provider, entries]) =>
  Object.entries(entries).map(([name, entry]) => ({ id: `${provider}/${name}`, ...entry })),
);

function price(input: number, output: number, cache: Pick<Price, "cached" | "written">): Price {
  return { input, output, ...cache };
}

/** OpenAI's: above the limit, input costs twice as much and output half as much again. */
function long(short: Price): Price {
  return tiered(short, 272_000, { input: 2, output: 1.5 });
}

/** Above this many input tokens the whole request costs more by these factors. */
function tiered(
  short: Price,
  above: number,
  times: { readonly input: number; readonly output: number },
): Price {
  const tier: PriceTier = {
    above,
    input: short.input * times.input,
    cached: short.cached * times.input,
    written: short.written * times.input,
    output: short.output * times.output,
  };
  return { ...short, tiers: [tier] };
}
