/** What is known of models: a reviewed snapshot (November 2026, the providers' own pages where they could be read). */
import type { ModelInfo, Price } from "@lathe/protocol";

/**
 * Standard prices of short prompts. Above some size providers charge more (OpenAI 2x input above 272k, Haiku 5.5 5x
 * above 100k, Kimi and Qwen by tiers); one `Price` cannot say that.
 */
export const catalogue: readonly ModelInfo[] = [
  anthropic("claude-fable-5-2", undefined),
  anthropic("claude-fable-5-1", price(10, 50, { cached: 0.25, written: 12.5 })),
  anthropic("claude-opus-5-5", price(4, 20, { cached: 0.2, written: 5 })),
  anthropic("claude-opus-5", price(5, 25, { cached: 0.5, written: 6.25 })),
  anthropic("claude-sonnet-5-5", price(2, 10, { cached: 0.2, written: 2.5 })),
  anthropic("claude-sonnet-5", price(2, 10, { cached: 0.2, written: 2.5 })),
  anthropic("claude-haiku-5-5", price(0.1, 0.5, { cached: 0.01, written: 0.125 })),
  {
    id: "anthropic/claude-haiku-4-5",
    window: 200_000,
    maxOutput: 64_000,
    price: price(1, 5, { cached: 0.1, written: 1.25 }),
  },
  openai("gpt-6.2-astra", undefined),
  openai("gpt-6.2-sol", undefined),
  openai("gpt-6.1-sol", price(2, 10, { cached: 0.2, written: 2.5 })),
  openai("gpt-6-astra", price(10, 50, { cached: 1, written: 12.5 })),
  openai("gpt-6-sol", price(2, 10, { cached: 0.2, written: 2.5 })),
  openai("gpt-6-luna", price(0.1, 0.5, { cached: 0.01, written: 0.125 })),
  openai("gpt-5.6-sol", price(4, 20, { cached: 0.4, written: 5 })),
  openai("gpt-5.6-terra", price(2, 12, { cached: 0.2, written: 2.5 })),
  openai("gpt-5.6-luna", price(0.2, 1.2, { cached: 0.02, written: 0.25 })),
  google("gemini-4-argon", undefined),
  google("gemini-4-hydrogen", undefined),
  google("gemini-3.8-flash", price(0.75, 3.75, { cached: 0.075, written: 0.75 })),
  google("gemini-3.1-pro-preview", undefined),
  { id: "xai/grok-4.7", window: 500_000, maxOutput: 200_000 },
  {
    id: "moonshotai/kimi-k3.1-pro",
    window: 256_000,
    maxOutput: 64_000,
    price: price(2, 10, { cached: 0.2, written: 2 }),
  },
  {
    id: "zai/glm-5.3",
    window: 1_048_576,
    maxOutput: 131_072,
    price: price(1.4, 4.4, { cached: 0.26, written: 1.4 }),
  },
  {
    // The price of peak hours; the rest of the day costs half.
    id: "deepseek/deepseek-flash",
    window: 1_000_000,
    maxOutput: 384_000,
    price: price(0.3, 1.2, { cached: 0.006, written: 0.3 }),
  },
  {
    id: "minimax/MiniMax-M3.1-Flash",
    window: 1_000_000,
    maxOutput: 64_000,
    price: price(0.15, 0.6, { cached: 0.015, written: 0.15 }),
  },
  { id: "qwen/qwen3.8-max", window: 1_000_000, maxOutput: 64_000 },
  { id: "qwen/qwen3.8-flash", window: 1_000_000, maxOutput: 64_000 },
];

/** Local servers often have less, but they say so in their answer; too small a guess would compact for nothing. */
const unknown = { window: 128_000, maxOutput: 16_000 } as const;

function anthropic(name: string, cost: Price | undefined): ModelInfo {
  return info(`anthropic/${name}`, { window: 1_000_000, maxOutput: 128_000 }, cost);
}

function openai(name: string, cost: Price | undefined): ModelInfo {
  return info(`openai/${name}`, { window: 1_050_000, maxOutput: 128_000 }, cost);
}

function google(name: string, cost: Price | undefined): ModelInfo {
  return info(`google/${name}`, { window: 1_048_576, maxOutput: 65_536 }, cost);
}

function info(
  id: string,
  limits: Pick<ModelInfo, "window" | "maxOutput">,
  cost: Price | undefined,
): ModelInfo {
  return cost ? { id, ...limits, price: cost } : { id, ...limits };
}

function price(input: number, output: number, cache: Pick<Price, "cached" | "written">): Price {
  return { input, output, ...cache };
}

/** The entry of `id`; dated snapshots have their family's, and unknown models careful limits and no price. */
export function infoOf(id: string, entries: readonly ModelInfo[]): ModelInfo {
  const exact = entries.find((entry) => entry.id === id);
  if (exact) return exact;
  const family = id.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, "");
  const entry = entries.find((candidate) => plain(candidate.id) === plain(family));
  return entry ? { ...entry, id } : { id, ...unknown };
}

/** People write `claude-opus-5.5`, the API `claude-opus-5-5`. */
export function plain(id: string): string {
  return id.toLowerCase().replaceAll(".", "-");
}

/** The ids most like `id`, best first. */
export function nearIds(id: string, entries: readonly ModelInfo[]): readonly string[] {
  const wanted = pairsOf(id);
  return entries
    .map((entry) => ({ id: entry.id, score: similarity(wanted, pairsOf(entry.id)) }))
    .filter(({ score }) => score > 0.4)
    .sort((a, b) => b.score - a.score)
    .slice(0, 4)
    .map((entry) => entry.id);
}

function pairsOf(text: string): ReadonlySet<string> {
  const name = plain(text);
  return new Set(Array.from({ length: Math.max(0, name.length - 1) }, (_, at) => name.slice(at, at + 2)));
}

/** Sørensen-Dice over pairs of letters. */
function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const common = [...a].filter((pair) => b.has(pair)).length;
  return a.size + b.size === 0 ? 0 : (2 * common) / (a.size + b.size);
}
