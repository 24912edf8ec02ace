/** The sources of the corpus's real changes: this repository's history, and packages of five registries. */
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PackageSet, packagesOf } from "./corpus-packages.ts";
import { gitPairs } from "./git-pairs.ts";
import { type Fetched, packagePairs, registries } from "./package-pairs.ts";

export type CorpusSource = "own" | (typeof registries)[number];

export const corpusSources: readonly CorpusSource[] = ["own", ...registries];

/**
 * Fetches the available sources; `skipped` says why something is missing. Caches packages in a temporary
 * folder.
 */
export function sourcePairs(sources: readonly CorpusSource[], set: PackageSet): Fetched {
  const cache = join(tmpdir(), "lathe-edit-corpus");
  mkdirSync(cache, { recursive: true });
  const chosen = registries.filter((registry) => sources.includes(registry));
  const { pairs, skipped } = packagePairs(packagesOf(set, chosen), cache);
  const own = sources.includes("own") ? gitPairs(import.meta.dirname, "own") : [];
  const missing = sources.includes("own") && (own ?? []).length === 0 ? ["own: no history here"] : [];
  return { pairs: [...(own ?? []), ...pairs], skipped: [...missing, ...skipped] };
}
