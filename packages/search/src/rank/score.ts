/** Scores documents for a query: BM25 over the body with fields for definitions, name and folders. */
import { chunkMask, countMask, countShift, definesPart, definesWhole, wordAt } from "../segments/segment.ts";
import type { Documents, PathFacts } from "../tree/documents.ts";
import type { QueryWord, ReadQuery } from "./query.ts";
import type { Weights } from "./weights.ts";

export interface ScoredQuery extends Omit<ReadQuery, "scope"> {
  readonly weights: Weights;
  /** *Contract:* pure; false for documents that are not looked for. */
  wanted(path: string): boolean;
  /** What history says of documents, 0 to 1. */
  readonly votes: ReadonlyMap<number, number>;
}

export interface ScoredDocument {
  readonly document: number;
  readonly score: number;
}

/** A word with how rare it is. */
export interface RareWord extends QueryWord {
  readonly rarity: number;
}

export interface Scores {
  /** Best first. */
  readonly best: readonly ScoredDocument[];
  readonly words: readonly RareWord[];
}

/** Documents of which chunks are looked at. */
const shortlist = 120;

export function scoreDocuments(documents: Documents, query: ScoredQuery): Scores {
  const scores = new Float64Array(documents.files.length);
  const scratch = scratchOf(documents);
  const words = query.words
    .filter(({ weight }) => weight > 0)
    .map((word) => ({ ...word, rarity: addWord(documents, { word, query, scores, scratch }) }));
  const wantedScores = withKinds(documents, query, scores);
  return { best: bestOf(wantedScores, shortlist), words };
}

interface Scratch {
  /** By document: how often the word is there, and whether it is defined. */
  readonly counts: Uint16Array;
  readonly flags: Uint8Array;
  readonly touched: Uint32Array;
  /** How much its length counts; 0 until it is asked for. */
  readonly norms: Float64Array;
}

function scratchOf({ files: { length } }: Documents): Scratch {
  return {
    counts: new Uint16Array(length),
    flags: new Uint8Array(length),
    touched: new Uint32Array(length),
    norms: new Float64Array(length),
  };
}

interface Adding {
  readonly word: QueryWord;
  readonly query: ScoredQuery;
  readonly scores: Float64Array;
  readonly scratch: Scratch;
}

function addWord(documents: Documents, { word, query, scores, scratch }: Adding): number {
  const { weights: w } = query;
  const touched = countWord(documents, word.hash, scratch);
  const total = documents.files.length;
  const rarity = Math.log(1 + (total - touched + 0.5) / (touched + 0.5));
  const base = rarity * word.weight;
  for (let at = 0; at < touched; at++) {
    const doc = scratch.touched[at] as number;
    const count = scratch.counts[doc] as number;
    const flags = scratch.flags[doc] as number;
    scratch.norms[doc] ||= normOf(documents, doc, w);
    const norm = scratch.norms[doc] as number;
    const body = (count * (w.k1 + 1)) / (count + norm);
    const defined = flags & definesWhole ? w.definesWhole : flags & definesPart ? w.definesPart : 0;
    scores[doc] = (scores[doc] as number) + base * (body + defined);
    scratch.counts[doc] = 0;
    scratch.flags[doc] = 0;
  }
  for (const doc of documents.byName.get(word.hash) ?? [])
    scores[doc] = (scores[doc] as number) + base * w.name;
  for (const doc of documents.byFolder.get(word.hash) ?? []) {
    scores[doc] = (scores[doc] as number) + base * w.folder;
  }
  return rarity;
}

function normOf(
  { segments, segmentOf, fileOf, meanLength }: Documents,
  doc: number,
  { k1, b }: Weights,
): number {
  const length = segments[segmentOf[doc] as number]?.lengths[fileOf[doc] as number] ?? 0;
  return k1 * (1 - b + (b * length) / meanLength);
}

/** Counts a word in each document that has it; returns their number. */
function countWord(documents: Documents, hash: number, scratch: Scratch): number {
  let touched = 0;
  documents.segments.forEach(({ segment, fileOfChunk }, at) => {
    const place = wordAt(segment, hash);
    if (place < 0) return;
    const heads = documents.heads[at] as Int32Array;
    const postings = segment.postings(place);
    for (let posting = 0; posting < postings.length; posting++) {
      const packed = postings[posting] as number;
      const file = fileOfChunk[packed & chunkMask] as number;
      const count = packed >>> countShift;
      for (let doc = heads[file] as number; doc >= 0; doc = documents.nextTwin[doc] as number) {
        if (scratch.counts[doc] === 0 && scratch.flags[doc] === 0) scratch.touched[touched++] = doc;
        // A word that only a definition is split into counts once.
        scratch.counts[doc] = (scratch.counts[doc] as number) + Math.max(1, count & countMask);
        scratch.flags[doc] = (scratch.flags[doc] as number) | (count & ~countMask);
      }
    }
  });
  return touched;
}

function withKinds(documents: Documents, query: ScoredQuery, scores: Float64Array): Float64Array {
  let most = 0;
  for (let doc = 0; doc < scores.length; doc++) {
    if (scores[doc] === 0) continue;
    scores[doc] = (scores[doc] as number) * kindWeight(documents.facts[doc] as PathFacts, query);
    most = Math.max(most, scores[doc] as number);
  }
  const { history, historyOfDescription } = query.weights;
  const share = query.manner === "description" ? historyOfDescription : history;
  for (const [doc, vote] of query.votes) {
    const facts = documents.facts[doc] as PathFacts;
    scores[doc] = (scores[doc] as number) + vote * share * (most || 1) * kindWeight(facts, query);
  }
  for (let doc = 0; doc < scores.length; doc++) {
    // Whether a file is wanted costs more than to score it: only those with a score are asked about.
    if (scores[doc] === 0) continue;
    // What could not be read cannot be shown.
    const isShown =
      (documents.segmentOf[doc] as number) >= 0 && query.wanted(documents.files[doc]?.path ?? "");
    if (!isShown) scores[doc] = 0;
  }
  return scores;
}

function kindWeight({ kind }: PathFacts, { wantsTests, wantsDocs, weights }: ScoredQuery): number {
  if (kind === "test") return wantsTests ? 1 : weights.test;
  if (kind === "doc") return wantsDocs ? 1 : weights.doc;
  return kind === "data" ? weights.data : 1;
}

/** Those with the highest scores: kept in their order while all others are looked at. */
function bestOf(scores: Float64Array, most: number): readonly ScoredDocument[] {
  const best: ScoredDocument[] = [];
  let least = 0;
  for (let document = 0; document < scores.length; document++) {
    const score = scores[document] as number;
    if (score <= least) continue;
    let at = best.length;
    while (at > 0 && (best[at - 1] as ScoredDocument).score < score) at--;
    best.splice(at, 0, { document, score });
    if (best.length > most) best.pop();
    if (best.length === most) least = best[most - 1]?.score ?? 0;
  }
  return best;
}
