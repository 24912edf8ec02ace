/** Segment: an inverted index of some files by their content, in one run of bytes that is also its file. */
import { crc32 } from "node:zlib";
import { wordsVersion } from "../words/words.ts";

const magic = 0x4c534731;
const headerWords = 8;
/** Words of a file's id: git's blob id. */
export const idWords = 5;

export const definesPart = 0x80;
export const definesWhole = 0x40;
export const countMask = 0x3f;

export interface Segment {
  readonly bytes: Uint8Array;
  readonly files: number;
  readonly chunks: number;
  /** `idWords` each: the blob id of what was read. */
  readonly ids: Uint32Array;
  /** The language of each file, as it stands in `codeLanguages`. */
  readonly languages: Uint32Array;
  /** The first chunk of each file, and the number of chunks. */
  readonly firstChunks: Uint32Array;
  /** The first line of each chunk, from 1, and in the top byte its number of lines. */
  readonly lines: Uint32Array;
  /** Words in each chunk. */
  readonly lengths: Uint32Array;
  /** Hashes, ascending. */
  readonly words: Uint32Array;
  /** Where the postings of each word begin, and their number. */
  readonly firstPostings: Uint32Array;
  readonly postingChunks: Uint32Array;
  /** How often, and whether the chunk defines it. */
  readonly postingCounts: Uint8Array;
}

export type SegmentParts = Omit<Segment, "bytes" | "files" | "chunks">;

export function encodeSegment(parts: SegmentParts): Segment {
  const arrays = arraysOf(parts);
  const words = headerWords + arrays.reduce((sum, { length }) => sum + length, 0);
  const bytes = new Uint8Array(words * 4 + Math.ceil(parts.postingCounts.length / 4) * 4);
  const header = new Uint32Array(bytes.buffer, 0, headerWords);
  let at = headerWords;
  for (const array of arrays) {
    new Uint32Array(bytes.buffer, at * 4, array.length).set(array);
    at += array.length;
  }
  bytes.set(parts.postingCounts, at * 4);
  header.set([magic, wordsVersion, bytes.length, parts.languages.length]);
  header.set([parts.lines.length, parts.words.length, parts.postingChunks.length], 4);
  header[7] = crc32(bytes.subarray(headerWords * 4), crc32(bytes.subarray(0, 28)));
  return decoded(bytes) as Segment;
}

/** Undefined for bytes that are torn, of another version or of something else. */
export function decodeSegment(bytes: Uint8Array): Segment | undefined {
  if (bytes.length < headerWords * 4 || bytes.byteOffset % 4 !== 0) return undefined;
  const header = new Uint32Array(bytes.buffer, bytes.byteOffset, headerWords);
  if (header[0] !== magic || header[1] !== wordsVersion || header[2] !== bytes.length) return undefined;
  const sum = crc32(bytes.subarray(headerWords * 4), crc32(bytes.subarray(0, 28)));
  return header[7] === sum ? decoded(bytes) : undefined;
}

function arraysOf(parts: SegmentParts): readonly Uint32Array[] {
  const { ids, languages, firstChunks, lines, lengths, words, firstPostings, postingChunks } = parts;
  return [ids, languages, firstChunks, lines, lengths, words, firstPostings, postingChunks];
}

function decoded(bytes: Uint8Array): Segment | undefined {
  const header = new Uint32Array(bytes.buffer, bytes.byteOffset, headerWords);
  const [files, chunks, words, postings] = [...header.subarray(3, 7)] as [number, number, number, number];
  let at = bytes.byteOffset + headerWords * 4;
  const next = (length: number): Uint32Array => {
    const view = new Uint32Array(bytes.buffer, at, length);
    at += length * 4;
    return view;
  };
  const size = headerWords + files * (idWords + 2) + 1 + chunks * 2 + words * 2 + 1 + postings;
  if (size * 4 + Math.ceil(postings / 4) * 4 !== bytes.length) return undefined;
  return {
    bytes,
    files,
    chunks,
    ids: next(files * idWords),
    languages: next(files),
    firstChunks: next(files + 1),
    lines: next(chunks),
    lengths: next(chunks),
    words: next(words),
    firstPostings: next(words + 1),
    postingChunks: next(postings),
    postingCounts: new Uint8Array(bytes.buffer, at, postings),
  };
}

/** The place of a word in a segment, or -1. */
export function wordAt({ words }: Segment, hash: number): number {
  let low = 0;
  let high = words.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const found = words[middle] as number;
    if (found === hash) return middle;
    if (found < hash) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
