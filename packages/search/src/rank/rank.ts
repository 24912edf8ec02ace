/** Ranks a tree's files for a query, and chooses the lines of them that are worth showing. */
import type { Documents } from "../tree/documents.ts";
import { type Candidates, candidatesOf, type Ranking } from "./candidates.ts";
import { placeOfChunk, type Reasons, reasonsOf } from "./chunk-scores.ts";
import { type Features, featureNames } from "./features.ts";
import { learntWeights } from "./learnt-weights.ts";

export interface RankedLines {
  readonly document: number;
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  /** The last line of the chunk, where there may be more to see. */
  readonly chunkEnd: number;
  readonly score: number;
  readonly reasons: Reasons;
  /** What history says of the file, 0 to 1. */
  readonly vote: number;
}

/** Lines shown for each file that was asked for, on average. */
const linesPerFile = 60;
/** Lines of the first range of a file, and of a further one. */
const firstLines = 28;
const furtherLines = 16;
/** Ranges of one file beyond its first. */
const moreRanges = 30;
/** Other ranges are shown as long as they have this part of the score of their file's best. */
const worthShowing = 0.1;
/** How far the score of its file counts for a further range. */
const fileShare = 0.4;

/** The best range of each of the `k` best files first, then further ones of them, both by score. */
export function rank(documents: Documents, ranking: Ranking): readonly RankedLines[] {
  const candidates = candidatesOf(documents, ranking);
  const files = scoredFiles(candidates).slice(0, ranking.k);
  const shown = chooseRanges(documents, files, ranking.k * linesPerFile);
  return shown.map(({ file, at, score, most }) => {
    const { line, lines: all } = placeOfChunk(documents, file.document, at);
    const lines = Math.min(most, all);
    return {
      document: file.document,
      path: documents.files[file.document]?.path ?? "",
      startLine: Math.max(1, line),
      endLine: Math.max(1, line + lines - 1),
      chunkEnd: Math.max(1, line + all - 1),
      score,
      reasons: reasonsOf(documents, file.document, { at, words: candidates.words }),
      vote: candidates.votes.get(file.document) ?? 0,
    };
  });
}

interface ScoredFile {
  readonly document: number;
  /** How likely it is the one looked for, of all candidates. */
  readonly score: number;
  readonly chunks: Float64Array;
  readonly bestChunk: number;
}

/** Best first: the weights are those of a conditional logit, so that scores are its shares. */
function scoredFiles({ manner, all, features }: Candidates): readonly ScoredFile[] {
  const logits = features.map((one) => logitOf(one, learntWeights[manner]));
  const most = Math.max(...logits);
  const shares = logits.map((logit) => Math.exp(logit - most));
  const sum = shares.reduce((total, share) => total + share, 0);
  return all
    .map(({ document, read: { chunks, bestChunk } }, at) => {
      return { document, chunks, bestChunk, score: (shares[at] as number) / sum };
    })
    .sort((a, b) => b.score - a.score || a.document - b.document);
}

function logitOf(features: Features, weights: Features): number {
  return featureNames.reduce((sum, name) => sum + features[name] * weights[name], 0);
}

interface Chosen {
  readonly file: ScoredFile;
  /** The chunk, counted from the file's first. */
  readonly at: number;
  readonly score: number;
  /** Lines shown of it at most. */
  readonly most: number;
}

function chooseRanges(documents: Documents, files: readonly ScoredFile[], budget: number): readonly Chosen[] {
  const linesOf = ({ file, at, most }: Chosen): number =>
    Math.min(most, placeOfChunk(documents, file.document, at).lines);
  const first = files.map(
    (file): Chosen => ({ file, at: file.bestChunk, score: file.score, most: firstLines }),
  );
  let left = budget - first.reduce((sum, one) => sum + linesOf(one), 0);
  const more: Chosen[] = [];
  for (const one of files.flatMap(otherChunks).sort((a, b) => b.score - a.score)) {
    const lines = linesOf(one);
    if (lines > left) continue;
    more.push(one);
    left -= lines;
  }
  return [...first, ...more];
}

function otherChunks(file: ScoredFile): readonly Chosen[] {
  const best = file.chunks[file.bestChunk] ?? 0;
  return [...file.chunks]
    .map((score, at) => ({ at, score: score / best }))
    .filter(({ at, score }) => at !== file.bestChunk && score > 0 && score >= worthShowing)
    .sort((a, b) => b.score - a.score)
    .slice(0, moreRanges)
    .map(({ at, score }) => ({ file, at, score: score * file.score ** fileShare, most: furtherLines }));
}
