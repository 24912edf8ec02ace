/** Finds a model's catalogue entry by its id, in any spelling. */
import type { ModelInfo } from "@lathe/protocol";
import { unknown } from "./catalogue.ts";

/**
 * The entry of `id`; a dated snapshot has its family's entry, an unknown model careful limits and no price.
 */
export function infoOf(id: string, entries: readonly ModelInfo[]): ModelInfo {
  return entryOf(id, entries) ?? { id, ...unknown };
}

/**
 * Like `infoOf`, but undefined for unknown models. A model served by another provider has the same entry
 * without the price.
 */
export function entryOf(id: string, entries: readonly ModelInfo[]): ModelInfo | undefined {
  const exact = entries.find((entry) => entry.id === id);
  if (exact) return exact;
  const family = id.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, "");
  const entry = entries.find((candidate) => plain(candidate.id) === plain(family));
  if (entry) return { ...entry, id };
  const kin = entries.find((candidate) => nameOf(candidate.id) === nameOf(family));
  if (!kin) return undefined;
  const { price: _, ...rest } = kin;
  return { ...rest, id };
}

/**
 * The model's name without its provider and maker: `bedrock/anthropic.claude-x`,
 * `openrouter/anthropic/claude-x`.
 */
function nameOf(id: string): string {
  return plain(id.slice(id.lastIndexOf("/") + 1).replace(/^[a-z]+\.(?=[a-z])/, ""));
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
