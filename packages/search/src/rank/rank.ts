/** Ranks a tree's files for a query. */
import type { Documents } from "../tree/documents.ts";
import { type Candidates, candidatesOf, type Ranking } from "./candidates.ts";
import { type Features, featureNames } from "./features.ts";
import { learntWeights } from "./learnt-weights.ts";
import type { RareWord } from "./score.ts";

export interface RankedFile {
  readonly document: number;
  readonly path: string;
  /** How likely it is the one looked for, of all candidates. */
  readonly score: number;
  /** The score of each of its chunks; empty where only its path is known. */
  readonly chunks: Float64Array;
  readonly bestChunk: number;
  /** What history says of it, 0 to 1. */
  readonly vote: number;
}

export interface RankedFiles {
  /** Best first, `k` at most. */
  readonly files: readonly RankedFile[];
  readonly k: number;
  readonly words: readonly RareWord[];
}

/** The weights are those of a conditional logit, so that scores are its shares. */
export function rankFiles(documents: Documents, ranking: Ranking): RankedFiles {
  const candidates = candidatesOf(documents, ranking);
  const files = scoredFiles(documents, candidates).slice(0, ranking.k);
  return { files, k: ranking.k, words: candidates.words };
}

function scoredFiles(
  documents: Documents,
  { manner, all, features, votes }: Candidates,
): readonly RankedFile[] {
  const logits = features.map((one) => logitOf(one, learntWeights[manner]));
  const most = Math.max(...logits);
  const shares = logits.map((logit) => Math.exp(logit - most));
  const sum = shares.reduce((total, share) => total + share, 0);
  return all
    .map(({ document, read: { chunks, bestChunk } }, at) => ({
      document,
      path: documents.files[document]?.path ?? "",
      score: (shares[at] as number) / sum,
      chunks,
      bestChunk,
      vote: votes.get(document) ?? 0,
    }))
    .sort((a, b) => b.score - a.score || a.document - b.document);
}

function logitOf(features: Features, weights: Features): number {
  return featureNames.reduce((sum, name) => sum + features[name] * weights[name], 0);
}
