/** Opens a tree for learning how to rank: the candidates of queries with their features, as a search weighs them. */
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { CodeIndex } from "./code-index.ts";
import { candidatesOf } from "./rank/candidates.ts";
import { type FeatureName, featureNames } from "./rank/features.ts";
import type { QueryManner } from "./rank/query.ts";
import { bundledRipgrep } from "./ripgrep.ts";

export interface WeighedCandidates {
  readonly manner: QueryManner;
  readonly names: readonly FeatureName[];
  readonly candidates: readonly { readonly path: string; readonly features: readonly number[] }[];
}

/** *Contract:* each call sees the tree as it is then. */
export type CandidatesOf = (query: string) => Promise<WeighedCandidates | Failure>;

export async function openCandidates(root: string, env: NodeJS.ProcessEnv): Promise<CandidatesOf | Failure> {
  const program = await bundledRipgrep();
  if (isFailure(program)) return program;
  const index = new CodeIndex({ root, program, path: "" }, { env, mayIndex: () => true });
  return async (query) => {
    const documents = await index.update(new AbortController().signal);
    if (isFailure(documents)) return documents;
    const history = await index.history();
    const found = index.reading(() => candidatesOf(documents, { query, k: 10, wanted: () => true, history }));
    if (!found) return failure("search-failed", "The index was removed meanwhile: try again.");
    const candidates = found.all.map(({ document }, at) => ({
      path: documents.files[document]?.path ?? "",
      features: featureNames.map((name) => found.features[at]?.[name] ?? 0),
    }));
    return { manner: found.manner, names: featureNames, candidates };
  };
}
