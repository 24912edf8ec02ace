/** Router options: which models a router may choose of, and by what. */
import type { Tier } from "./weights.ts";

/** What the user, the machine's owner and the project say of the router. */
export interface RouterOptions {
  /** From 0, the default, to 1: how often another model than the best is tried, so that training learns of it. */
  readonly explore?: number;
  /** Patterns of model ids with `*`: a model must match one of each list. */
  readonly allow: readonly (readonly string[])[];
  /** A model must match none. */
  readonly block: readonly string[];
  /** By model id, over what the name and the price say. */
  readonly tiers: Readonly<Record<string, Tier>>;
  /** A file that `lathe models train --out` wrote. */
  readonly weights?: string;
}

/** Where nobody says anything of it. */
export const noRouterOptions: RouterOptions = { allow: [], block: [], tiers: {} };
