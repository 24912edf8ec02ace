/** Trigram builder: takes the trigrams of files one by one and makes the bytes of a segment of them. */
import { crc32 } from "node:zlib";
import { idWords } from "../segments/segment.ts";
import { Growing } from "../words/growing.ts";
import { createTrigramSet, trigramSpace, trigramsVersion } from "./trigrams.ts";

export const magic = 0x4c545231;
/** Words of the header: magic, version, length, files, blocks, checksum of the head. */
export const headerWords = 8;
/** Trigrams of one block: what is read, and checked, at a time. */
const blockTrigrams = 64;
/** Words of a block in the head: its first trigram, where it begins, its checksum. */
export const blockWords = 3;

const nul = 0;

export class TrigramBuilder {
  readonly #set = createTrigramSet();
  readonly #ids = new Growing();
  readonly #sizes = new Growing();
  readonly #trigrams = new Growing(1 << 20);
  readonly #ends = new Growing();
  /** Each trigram once, and in how many files it is. */
  readonly #present = new Growing();
  readonly #counts = new Uint32Array(trigramSpace);

  get files(): number {
    return this.#sizes.length;
  }

  /** Ripgrep ends a file that is not text at its first NUL: what is behind it is never found. */
  add(id: string, bytes: Uint8Array): void {
    for (let at = 0; at < idWords; at++) this.#ids.push(Number.parseInt(id.slice(at * 8, at * 8 + 8), 16));
    this.#sizes.push(bytes.length);
    const end = bytes.indexOf(nul);
    const found = this.#set.collect(end < 0 ? bytes : bytes.subarray(0, end));
    for (let at = 0; at < found.length; at++) {
      const trigram = found[at] as number;
      this.#trigrams.push(trigram);
      const count = this.#counts[trigram] as number;
      if (count === 0) this.#present.push(trigram);
      this.#counts[trigram] = count + 1;
    }
    this.#ends.push(this.#trigrams.length);
  }

  finish(): Uint8Array {
    const { files } = this;
    const { present, starts, lists } = this.#sorted();
    const blocks = new Uint32Array(Math.ceil(present.length / blockTrigrams) * blockWords);
    const bodies: Uint8Array[] = [];
    const headBytes = (headerWords + files * (idWords + 1) + blocks.length) * 4;
    let at = headBytes;
    for (let first = 0; first < present.length; first += blockTrigrams) {
      const trigrams = present.subarray(first, first + blockTrigrams);
      const list = (index: number) => lists.subarray(starts[first + index], starts[first + index + 1]);
      const body = encodeBlock(trigrams, list, files);
      blocks.set([trigrams[0] as number, at, crc32(body)], (first / blockTrigrams) * blockWords);
      bodies.push(body);
      at += body.length;
    }
    const bytes = new Uint8Array(at);
    const header = new Uint32Array(bytes.buffer, 0, headBytes / 4);
    header.set([magic, trigramsVersion, at, files, blocks.length / blockWords]);
    header.set(this.#ids.items(), headerWords);
    header.set(this.#sizes.items(), headerWords + files * idWords);
    header.set(blocks, headerWords + files * (idWords + 1));
    // The checksum is the last word of the header, and not of itself.
    header[headerWords - 1] = headSum(bytes.subarray(0, headBytes));
    let next = headBytes;
    for (const body of bodies) {
      bytes.set(body, next);
      next += body.length;
    }
    return bytes;
  }

  /** Files by trigram: they come in the order of files, and counting keeps it. */
  #sorted(): { readonly present: Uint32Array; readonly starts: Uint32Array; readonly lists: Uint32Array } {
    const counts = this.#counts;
    const present = this.#present.items().sort();
    const starts = new Uint32Array(present.length + 1);
    for (let rank = 0; rank < present.length; rank++) {
      const trigram = present[rank] as number;
      starts[rank + 1] = (starts[rank] as number) + (counts[trigram] as number);
      // From here on: where the next file of the trigram goes.
      counts[trigram] = starts[rank] as number;
    }
    const lists = new Uint32Array(this.#trigrams.length);
    const [trigrams, ends] = [this.#trigrams.items(), this.#ends.items()];
    let posting = 0;
    for (let file = 0; file < ends.length; file++) {
      for (; posting < (ends[file] as number); posting++) {
        const trigram = trigrams[posting] as number;
        const place = counts[trigram] as number;
        counts[trigram] = place + 1;
        lists[place] = file;
      }
    }
    return { present, starts, lists };
  }
}

/** Of everything up to the blocks but its own place. */
export function headSum(head: Uint8Array): number {
  return crc32(head.subarray(headerWords * 4), crc32(head.subarray(0, (headerWords - 1) * 4)));
}

/**
 * How many trigrams; for each the distance from the one before and the length of its list, then the lists: distances between files;
 * or, where that is shorter, one bit for each file.
 */
function encodeBlock(
  trigrams: Uint32Array,
  listOf: (index: number) => Uint32Array,
  files: number,
): Uint8Array {
  const bitBytes = Math.ceil(files / 8);
  const bytes = new Uint8Array(5 + trigrams.length * 10);
  const lists = new Uint8Array(trigrams.length * (bitBytes + 5));
  const [head, body] = [new Writer(bytes), new Writer(lists)];
  let before = trigrams[0] as number;
  head.varint(trigrams.length);
  trigrams.forEach((trigram, index) => {
    const from = body.at;
    const list = listOf(index);
    if (list.length < bitBytes) body.distances(list, from + bitBytes);
    // It may still be too long: then it was given up.
    if (list.length >= bitBytes || body.at - from >= bitBytes) {
      body.at = from;
      body.bits(list, bitBytes);
    }
    head.varint(trigram - before);
    head.varint(body.at - from);
    before = trigram;
  });
  const whole = new Uint8Array(head.at + body.at);
  whole.set(bytes.subarray(0, head.at));
  whole.set(lists.subarray(0, body.at), head.at);
  return whole;
}

class Writer {
  readonly #bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  varint(value: number): void {
    let rest = value;
    while (rest > 127) {
      this.#bytes[this.at++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.#bytes[this.at++] = rest;
  }

  /** Up to an end, or a little beyond it. */
  distances(files: Uint32Array, end: number): void {
    let before = -1;
    for (let at = 0; at < files.length && this.at < end; at++) {
      const file = files[at] as number;
      this.varint(file - before - 1);
      before = file;
    }
  }

  bits(files: Uint32Array, length: number): void {
    this.#bytes.fill(0, this.at, this.at + length);
    for (let at = 0; at < files.length; at++) {
      const file = files[at] as number;
      const place = this.at + (file >>> 3);
      this.#bytes[place] = (this.#bytes[place] as number) | (1 << (file & 7));
    }
    this.at += length;
  }
}
