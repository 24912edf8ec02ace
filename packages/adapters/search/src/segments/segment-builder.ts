/** Segment builder: takes files one by one and makes a segment of them. */
import { chunkStarts } from "../definitions/chunks.ts";
import { definitionsOf } from "../definitions/definitions.ts";
import { type CodeLanguage, codeLanguages } from "../definitions/languages.ts";
import { Growing } from "../words/growing.ts";
import { Vocabulary } from "../words/vocabulary.ts";
import { eachWideWord } from "../words/wide-words.ts";
import { byteKinds, eachIdentifier, wide } from "../words/words.ts";
import {
  chunkMask,
  countMask,
  countShift,
  definesPart,
  definesWhole,
  encodeSegment,
  type HeldSegment,
  idWords,
} from "./segment.ts";

export interface FileToIndex {
  /** Blob id of the bytes, in hexadecimal. */
  readonly id: string;
  readonly language: CodeLanguage;
  readonly bytes: Uint8Array;
}

const newline = 10;
/** Mean characters of a line in what no person has written. */
const longLines = 400;

/** *Contract:* its chunks, and its words, are fewer than 2^24. */
export class SegmentBuilder {
  readonly #vocabulary = new Vocabulary();
  readonly #ids = new Growing();
  readonly #languages = new Growing();
  readonly #firstChunks = new Growing();
  readonly #lines = new Growing();
  readonly #offsets = new Growing();
  readonly #lengths = new Growing();
  /** The word of each posting with its count, in the order of chunks, and where the postings of each chunk end. */
  readonly #postings = new Growing(1 << 16);
  readonly #ends = new Growing();
  /** By word: the place of its posting in the chunk that is being read, plus one. */
  #places = new Uint32Array(1 << 16);
  #chunkWords = 0;

  get files(): number {
    return this.#languages.length;
  }

  add({ id, language, bytes }: FileToIndex): void {
    for (let at = 0; at < idWords; at++) this.#ids.push(Number.parseInt(id.slice(at * 8, at * 8 + 8), 16));
    this.#languages.push(codeLanguages.indexOf(language));
    this.#firstChunks.push(this.#lines.length);
    if (language === "none" || bytes.subarray(0, 8000).includes(0)) return;
    const starts = startsOf(bytes);
    if (bytes.length > starts.length * longLines) return;
    this.#addChunks(bytes, starts, language);
  }

  #addChunks(bytes: Uint8Array, starts: Uint32Array, language: CodeLanguage): void {
    // One character per byte, so that offsets are those of the bytes.
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
    const definitions = definitionsOf(text, starts, language);
    const cuts = chunkStarts(text, starts, definitions);
    let next = 0;
    cuts.forEach((cut, at) => {
      const end = cuts[at + 1] ?? starts.length;
      const first = this.#postings.length;
      this.#lines.push(((cut + 1) | ((end - cut) << 24)) >>> 0);
      this.#offsets.push(starts[cut] as number);
      this.#chunkWords = 0;
      this.#readWords(bytes, starts[cut] as number, starts[end] ?? bytes.length);
      for (; next < definitions.length && (definitions[next]?.line ?? 0) < end; next++) {
        const { start, name } = definitions[next] as (typeof definitions)[number];
        this.#markDefined(bytes, start, start + name.length);
      }
      this.#lengths.push(this.#chunkWords);
      this.#ends.push(this.#postings.length);
      const postings = this.#postings.items();
      for (let posting = first; posting < postings.length; posting++) {
        this.#places[(postings[posting] as number) & chunkMask] = 0;
      }
    });
  }

  #readWords(bytes: Uint8Array, from: number, to: number): void {
    // Written out, though it is `eachIdentifier`: most of the time of a build goes here.
    for (let at = from; at < to; ) {
      while (at < to && byteKinds[bytes[at] as number] === 0) at++;
      const start = at;
      let seen = 0;
      for (let kind = 0; at < to; at++, seen |= kind) {
        kind = byteKinds[bytes[at] as number] as number;
        if (kind === 0) break;
      }
      if (seen & wide) this.#readWideWords(bytes, start, at);
      else if (at > start + 1) this.#count(bytes, start, at);
    }
  }

  #readWideWords(bytes: Uint8Array, from: number, to: number): void {
    eachWideWord(bytes, { from, to }, (start, end) => {
      if (end > start + 1) this.#count(bytes, start, end);
    });
  }

  #count(bytes: Uint8Array, start: number, end: number): void {
    const list = this.#vocabulary.listOf(bytes, start, end);
    const items = this.#vocabulary.items;
    const last = list + (items[list] as number);
    for (let at = list + 1; at <= last; at++) {
      const place = this.#placeOf(items[at] as number);
      const postings = this.#postings.raw;
      const posting = postings[place] as number;
      if (((posting >>> countShift) & countMask) < countMask) postings[place] = posting + (1 << countShift);
    }
    this.#chunkWords++;
  }

  /** The posting of a word in this chunk. */
  #placeOf(word: number): number {
    if (word >= this.#places.length) {
      const larger = new Uint32Array(this.#places.length * 2);
      larger.set(this.#places);
      this.#places = larger;
    }
    const known = this.#places[word] as number;
    if (known !== 0) return known - 1;
    this.#postings.push(word);
    this.#places[word] = this.#postings.length;
    return this.#postings.length - 1;
  }

  #markDefined(bytes: Uint8Array, from: number, to: number): void {
    eachIdentifier(bytes.subarray(from, to), (start, end) => {
      const isWhole = start === 0 && end === to - from;
      this.#flag(this.#vocabulary.listOf(bytes, from + start, from + end), isWhole);
    });
  }

  #flag(list: number, isWhole: boolean): void {
    const items = this.#vocabulary.items;
    const last = list + (items[list] as number);
    for (let item = list + 1; item <= last; item++) {
      const place = this.#placeOf(items[item] as number);
      const flags = item === list + 1 && isWhole ? definesWhole | definesPart : definesPart;
      const postings = this.#postings.raw;
      postings[place] = (postings[place] as number) | (flags << countShift);
    }
  }

  /** Begins anew, in the same memory. */
  finish(): HeldSegment {
    this.#firstChunks.push(this.#lines.length);
    const order = wordOrder(this.#vocabulary.hashes);
    const segment = encodeSegment({
      ids: this.#ids.items(),
      languages: this.#languages.items(),
      firstChunks: this.#firstChunks.items(),
      lines: this.#lines.items(),
      offsets: this.#offsets.items(),
      lengths: this.#lengths.items(),
      words: order.sorted,
      ...sortedPostings(order, { postings: this.#postings.items(), ends: this.#ends.items() }),
    });
    const ofFiles = [this.#ids, this.#languages, this.#firstChunks];
    const ofChunks = [this.#lines, this.#offsets, this.#lengths, this.#ends];
    for (const filled of [...ofFiles, ...ofChunks, this.#postings]) filled.length = 0;
    this.#vocabulary.clear();
    return segment;
  }
}

interface WordOrder {
  readonly sorted: Uint32Array;
  /** By id: the word's place among the sorted. */
  readonly ranks: Uint32Array;
}

function wordOrder(hashes: Uint32Array): WordOrder {
  const keyed = new Float64Array(hashes.length);
  // Both in one number: 32 bits of hash, then 21 of id.
  hashes.forEach((hash, id) => {
    keyed[id] = hash * 0x200000 + id;
  });
  keyed.sort();
  const sorted = new Uint32Array(hashes.length);
  const ranks = new Uint32Array(hashes.length);
  keyed.forEach((key, rank) => {
    const id = key % 0x200000;
    sorted[rank] = (key - id) / 0x200000;
    ranks[id] = rank;
  });
  return { sorted, ranks };
}

interface Postings {
  /** Word and count. */
  readonly postings: Uint32Array;
  /** By chunk. */
  readonly ends: Uint32Array;
}

/** By word, and by chunk within a word: they come in the order of chunks, and counting keeps it. */
function sortedPostings(
  { sorted, ranks }: WordOrder,
  { postings, ends }: Postings,
): { readonly firstPostings: Uint32Array; readonly allPostings: Uint32Array } {
  const firstPostings = new Uint32Array(sorted.length + 1);
  for (let at = 0; at < postings.length; at++) {
    const rank = ranks[(postings[at] as number) & chunkMask] as number;
    firstPostings[rank + 1] = (firstPostings[rank + 1] as number) + 1;
  }
  for (let rank = 0; rank < sorted.length; rank++) {
    firstPostings[rank + 1] = (firstPostings[rank + 1] as number) + (firstPostings[rank] as number);
  }
  const next = firstPostings.slice();
  const allPostings = new Uint32Array(postings.length);
  let at = 0;
  for (let chunk = 0; chunk < ends.length; chunk++) {
    for (; at < (ends[chunk] as number); at++) {
      const posting = postings[at] as number;
      const rank = ranks[posting & chunkMask] as number;
      const place = next[rank] as number;
      next[rank] = place + 1;
      allPostings[place] = (posting & ~chunkMask) | chunk;
    }
  }
  return { firstPostings, allPostings };
}

function startsOf(bytes: Uint8Array): Uint32Array {
  const starts = new Growing(256);
  starts.push(0);
  for (
    let at = bytes.indexOf(newline);
    at >= 0 && at + 1 < bytes.length;
    at = bytes.indexOf(newline, at + 1)
  ) {
    starts.push(at + 1);
  }
  return starts.items();
}
