/** Scores the chunks of single documents: where in a file the words of a query come together. */
import { chunkMask, countMask, countShift, definesPart, definesWhole, wordAt } from "../segments/segment.ts";
import type { Documents, OpenSegment } from "../tree/documents.ts";
import type { RareWord } from "./score.ts";
import type { Weights } from "./weights.ts";

export interface ChunkPlace {
  readonly chunk: number;
  /** From 1. */
  readonly line: number;
  readonly lines: number;
}

/** Words of a query that a chunk defines, and those it only has, as they were written, rarest first. */
export interface Reasons {
  readonly defines: readonly string[];
  readonly has: readonly string[];
}

export interface Asked {
  readonly words: readonly RareWord[];
  readonly weights: Weights;
}

/** Words in a chunk, about the mean. */
const meanWords = 150;
const saturation = 1;

/** What a document has of a query. */
export interface ReadDocument {
  /** The score of each chunk, in their order; empty for a document without words. */
  readonly chunks: Float64Array;
  readonly bestChunk: number;
  /** The score of the best chunk where definitions count as they do in whole files. */
  readonly chunk: number;
  /** Of all its words, with their length. */
  readonly body: number;
  /** Rarity of the words it has, of those it defines whole, and as parts of names. */
  readonly has: number;
  readonly definesWhole: number;
  readonly definesPart: number;
  /** The words it has. */
  readonly words: ReadonlySet<number>;
}

/** How far the length of a file counts where chunks are scored, too. */
const lengthShare = 0.9;
const bodySaturation = 1.2;

export function readDocument(
  documents: Documents,
  document: number,
  { words, weights }: Asked,
): ReadDocument {
  const { open, first, end } = chunksOf(documents, document);
  const chunks = new Float64Array(end - first);
  const plain = new Float64Array(end - first);
  const sums = { body: 0, has: 0, definesWhole: 0, definesPart: 0 };
  const having = new Set<number>();
  if (!open) return { chunks, bestChunk: 0, chunk: 0, ...sums, words: having };
  const length = open.lengths[documents.fileOf[document] as number] as number;
  const norm = bodySaturation * (1 - lengthShare + (lengthShare * length) / documents.meanLength);
  for (const word of words) {
    let times = 0;
    let flags = 0;
    eachPosting(open, { hash: word.hash, first, end }, (chunk, count) => {
      const at = chunk - first;
      const { body, defined } = wordScore(open, { chunk, count, word, weights });
      plain[at] = (plain[at] as number) + body + defined;
      chunks[at] = (chunks[at] as number) + body + defined * weights.chunkDefines;
      times += Math.max(1, count & countMask);
      flags |= count;
    });
    if (times === 0) continue;
    const rarity = word.rarity * word.weight;
    having.add(word.hash);
    sums.body += (rarity * times * (bodySaturation + 1)) / (times + norm);
    sums.has += rarity;
    if (flags & definesWhole) sums.definesWhole += rarity;
    if (flags & definesPart) sums.definesPart += rarity;
  }
  const bestChunk = chunks.reduce((best, score, at) => (score > (chunks[best] as number) ? at : best), 0);
  return { chunks, bestChunk, chunk: plain.reduce((a, b) => Math.max(a, b), 0), ...sums, words: having };
}

/** Why a chunk of a document, counted from its first, has its score. */
export function reasonsOf(
  documents: Documents,
  document: number,
  { at, words }: { readonly at: number; readonly words: readonly RareWord[] },
): Reasons {
  const { open, first } = chunksOf(documents, document);
  const defines = new Set<string>();
  const has = new Set<string>();
  if (!open) return { defines: [], has: [] };
  for (const word of words.toSorted((a, b) => b.rarity * b.weight - a.rarity * a.weight)) {
    eachPosting(open, { hash: word.hash, first: first + at, end: first + at + 1 }, (_, count) => {
      (count & definesPart ? defines : has).add(word.text);
    });
  }
  return { defines: [...defines], has: [...has].filter((text) => !defines.has(text)) };
}

export function placeOfChunk(documents: Documents, document: number, at: number): ChunkPlace {
  const { open, first } = chunksOf(documents, document);
  const packed = open?.segment.lines[first + at] ?? 0;
  return { chunk: first + at, line: packed & 0xffffff, lines: packed >>> 24 };
}

function chunksOf(
  documents: Documents,
  document: number,
): { readonly open: OpenSegment | undefined; readonly first: number; readonly end: number } {
  const open = documents.segments[documents.segmentOf[document] as number];
  const file = documents.fileOf[document] as number;
  return { open, first: open?.segment.firstChunks[file] ?? 0, end: open?.segment.firstChunks[file + 1] ?? 0 };
}

function wordScore(
  { segment }: OpenSegment,
  {
    chunk,
    count,
    word,
    weights,
  }: { readonly chunk: number; readonly count: number; readonly word: RareWord; readonly weights: Weights },
): { readonly body: number; readonly defined: number } {
  const times = Math.max(1, count & countMask);
  const norm =
    saturation * (1 - weights.chunkB + (weights.chunkB * (segment.lengths[chunk] as number)) / meanWords);
  const body = (times * (saturation + 1)) / (times + norm);
  const defined = count & definesWhole ? weights.definesWhole : count & definesPart ? weights.definesPart : 0;
  const rarity = word.rarity * word.weight;
  return { body: rarity * body, defined: rarity * defined };
}

/** The postings of a word in the chunks from `first` up to `end`. */
function eachPosting(
  { segment }: OpenSegment,
  { hash, first, end }: { readonly hash: number; readonly first: number; readonly end: number },
  visit: (chunk: number, count: number) => void,
): void {
  const place = wordAt(segment, hash);
  if (place < 0) return;
  const postings = segment.postings(place);
  let low = 0;
  let high = postings.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (((postings[middle] as number) & chunkMask) < first) low = middle + 1;
    else high = middle;
  }
  for (; low < postings.length; low++) {
    const posting = postings[low] as number;
    if ((posting & chunkMask) >= end) return;
    visit(posting & chunkMask, posting >>> countShift);
  }
}
