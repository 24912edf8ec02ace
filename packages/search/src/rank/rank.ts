/** Ranks a tree's files for a query, and chooses the lines of them that are worth showing. */
import type { FileKind } from "../definitions/languages.ts";
import type { Documents } from "../tree/documents.ts";
import { placeOfChunk, type Reasons, reasonsOf, scoreChunks } from "./chunk-scores.ts";
import { type HistoryPart, votesOf } from "./history.ts";
import { readQuery } from "./query.ts";
import { type Scores, scoreDocuments } from "./score.ts";
import { weights as chosen, type Weights } from "./weights.ts";

export interface Ranking {
  readonly query: string;
  /** Files at most. */
  readonly k: number;
  /** *Contract:* pure; false for files that are not looked for. */
  readonly wanted: (path: string) => boolean;
  readonly kind?: FileKind;
  readonly history: readonly HistoryPart[];
  readonly weights?: Weights;
}

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
const firstLines = 40;
const furtherLines = 20;
/** Ranges of one file beyond its first. */
const moreRanges = 30;
/** Other ranges are shown as long as they have this part of the score of their file's best. */
const worthShowing = 0.1;
/** What the score of its file adds to a further range. */
const fileShare = 0.3;

/** The best range of each of the `k` best files first, then further ones of them, both by score. */
export function rank(documents: Documents, ranking: Ranking): readonly RankedLines[] {
  const weights = ranking.weights ?? chosen;
  const read = readQuery(ranking.query);
  const votes =
    read.manner === "symbol" ? new Map<number, number>() : votesOf(ranking.history, read.words, documents);
  const wantsTests = read.wantsTests || ranking.kind === "test";
  const wantsDocs = read.wantsDocs || ranking.kind === "doc";
  const { wanted, kind } = ranking;
  const isWanted = (path: string): boolean => {
    const doc = documents.byPath.get(path);
    return wanted(path) && (kind === undefined || (doc !== undefined && documents.facts[doc]?.kind === kind));
  };
  const scores = scoreDocuments(documents, {
    ...read,
    wantsTests,
    wantsDocs,
    weights,
    wanted: isWanted,
    votes,
  });
  const files = withChunks(documents, scores, weights).slice(0, ranking.k);
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
      reasons: reasonsOf(documents, file.document, { at, words: scores.words }),
      vote: votes.get(file.document) ?? 0,
    };
  });
}

interface ScoredFile {
  readonly document: number;
  readonly score: number;
  readonly chunks: Float64Array;
  readonly bestChunk: number;
}

function withChunks(documents: Documents, { best, words }: Scores, weights: Weights): readonly ScoredFile[] {
  return best
    .map(({ document, score }) => {
      const chunks = scoreChunks(documents, document, { words, weights });
      let bestChunk = 0;
      chunks.forEach((one, at) => {
        if (one > (chunks[bestChunk] ?? 0)) bestChunk = at;
      });
      return {
        document,
        chunks,
        bestChunk,
        score: score + weights.chunk * (chunks[bestChunk] ?? 0) * kindOf(documents, document, weights),
      };
    })
    .sort((a, b) => b.score - a.score || a.document - b.document);
}

function kindOf(documents: Documents, document: number, weights: Weights): number {
  const kind = documents.facts[document]?.kind;
  return kind === "test" ? weights.test : kind === "doc" ? weights.doc : kind === "data" ? weights.data : 1;
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
  const least = (file.chunks[file.bestChunk] ?? 0) * worthShowing;
  return [...file.chunks]
    .map((score, at) => ({ at, score }))
    .filter(({ at, score }) => at !== file.bestChunk && score > 0 && score >= least)
    .sort((a, b) => b.score - a.score)
    .slice(0, moreRanges)
    .map(({ at, score }) => ({ file, at, score: score + fileShare * file.score, most: furtherLines }));
}
