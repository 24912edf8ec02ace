/** What is known of models: the snapshot, over it what the user fetched, over that what the user says. */
import type { ModelInfo, Price } from "@lathe/protocol";
import { snapshot } from "./snapshot.ts";

/** Who says so; `server` is a local server that was asked. */
export type Source = "snapshot" | "refreshed" | "server" | "config";

export interface Known {
  readonly info: ModelInfo;
  readonly source: Source;
}

/** What the user says of a model; what is absent is as it was known, or as for an unknown model. */
export type OwnEntry = Partial<Omit<ModelInfo, "id" | "price">> & {
  /** Rates for what goes in and what comes out are enough: the cache then costs what goes in. */
  readonly price?: Pick<Price, "input" | "output"> & Partial<Price>;
};

export interface CatalogueParts {
  /** Of a newer registry than the snapshot; an entry replaces the snapshot's. */
  readonly refreshed?: readonly ModelInfo[];
  /** By model id. */
  readonly own?: Readonly<Record<string, OwnEntry>>;
}

/** Local servers often have less, but they say so in their answer; too small a guess would compact for nothing. */
export const unknown = { window: 128_000, maxOutput: 16_000 } as const;

export function createCatalogue({ refreshed = [], own = {} }: CatalogueParts = {}): readonly Known[] {
  const known = new Map<string, Known>();
  for (const info of snapshot) known.set(info.id, { info, source: "snapshot" });
  for (const info of refreshed) known.set(info.id, { info, source: "refreshed" });
  for (const [id, entry] of Object.entries(own)) {
    const { price, ...rest } = entry;
    const before = known.get(id)?.info ?? { id, ...unknown };
    const info = { ...before, ...rest, ...(price && { price: wholePrice(price) }) };
    known.set(id, { info, source: "config" });
  }
  return [...known.values()];
}

/** Without a price for the cache, cached input counts as full input. */
export function wholePrice(price: NonNullable<OwnEntry["price"]>): Price {
  return { cached: price.input, written: price.input, ...price };
}
