/**
 * Reads the registry of models.dev (`api.json`, MIT): providers by name, each with its models by name. All
 * values are checked, and invalid ones left out: a wrong price is worse than none.
 */
import { isRecord, type ModelInfo, type Price, type Rates } from "@lathe/protocol";
import { wholePrice } from "./catalogue.ts";
import { countOf, type Fields } from "./json-fields.ts";

export interface Registry {
  readonly entries: readonly ModelInfo[];
  /** Number of models that could not be read. */
  readonly left: number;
}

/** Providers with another name in Lathe. */
const ourNames: Readonly<Record<string, string>> = { alibaba: "qwen" };

/** Undefined if it is no such registry. Reads only the providers in `wanted`, by Lathe's names. */
export function readModelsDev(value: unknown, wanted: readonly string[]): Registry | undefined {
  const providers = isRecord(value) ? Object.entries(value).flatMap(modelsOf) : [];
  if (providers.length === 0) return undefined;
  const read = providers
    .filter(([name]) => wanted.includes(name))
    .flatMap(([name, models]) =>
      Object.entries(models).map(([id, model]) => infoOfModel(`${name}/${id}`, model)),
    );
  const entries = read.filter((one) => typeof one === "object");
  return { entries, left: read.filter((one) => one === "wrong").length };
}

function modelsOf([theirs, provider]: readonly [string, unknown]): readonly (readonly [string, Fields])[] {
  const models = isRecord(provider) ? provider.models : undefined;
  return isRecord(models) ? [[ourNames[theirs] ?? theirs, models]] : [];
}

function infoOfModel(id: string, model: unknown): ModelInfo | "wrong" | "no-text" {
  if (!isRecord(model)) return "wrong";
  if (!writesText(model)) return "no-text";
  const limit = isRecord(model.limit) ? model.limit : {};
  const window = countOf(limit.context);
  const maxOutput = countOf(limit.output);
  const price = priceOf(model.cost, id);
  if (window === undefined || maxOutput === undefined || price === "wrong") return "wrong";
  return {
    id,
    window,
    maxOutput,
    ...(price && { price }),
    images: modalities(model, "input").includes("image"),
    ...(typeof model.reasoning === "boolean" && { reasoning: model.reasoning }),
    ...(typeof model.tool_call === "boolean" && { tools: model.tool_call }),
  };
}

function writesText(model: Fields): boolean {
  const output = modalities(model, "output");
  return output.length === 0 || output.includes("text");
}

function modalities({ modalities: both }: Fields, way: "input" | "output"): readonly unknown[] {
  const list = isRecord(both) ? both[way] : undefined;
  return Array.isArray(list) ? list : [];
}

/** Plans without a price per token are written as 0, which does not show an attempt's cost; `:free` does. */
function priceOf(cost: unknown, id: string): Price | "wrong" | undefined {
  if (cost === undefined) return undefined;
  const rates = isRecord(cost) ? ratesOfCost(cost) : undefined;
  if (!rates || !isRecord(cost)) return "wrong";
  if (rates.input === 0 && rates.output === 0 && !id.endsWith(":free")) return undefined;
  const written = Array.isArray(cost.tiers) ? cost.tiers.map(tierOf) : [];
  if (written.includes(undefined)) return "wrong";
  const tiers = written.flatMap((tier) => tier ?? []).sort((a, b) => a.above - b.above);
  return tiers.length > 0 ? { ...rates, tiers } : rates;
}

function tierOf(value: unknown): (Rates & { readonly above: number }) | undefined {
  if (!isRecord(value) || !isRecord(value.tier)) return undefined;
  const above = countOf(value.tier.size);
  const rates = ratesOfCost(value);
  return above !== undefined && rates ? { ...rates, above } : undefined;
}

function ratesOfCost({ input, output, cache_read, cache_write }: Fields): Rates | undefined {
  const rates = [input, output, cache_read ?? input, cache_write ?? input].map(dollars);
  const [goesIn, comesOut, cached, written] = rates;
  if (goesIn === undefined || comesOut === undefined || cached === undefined || written === undefined)
    return undefined;
  // The provider charges no surcharge for cache writes; the tokens themselves still count as input.
  return wholePrice({ input: goesIn, output: comesOut, cached, ...(written > 0 && { written }) });
}

/** A higher price for a million tokens is a typing error. */
const maxDollars = 10_000;

function dollars(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value < maxDollars ? value : undefined;
}
