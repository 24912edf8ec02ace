/** Segment reader: segments whose postings stay on the disk; lists that were read are remembered, those used last. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { headerWords, headWords, type Segment, segmentHead, sumOfHeader } from "./segment.ts";

/** Bytes of lists that are remembered, and of a file that are read at a time. */
const mostRemembered = 16_000_000;
const stretchBytes = 1 << 18;

export class SegmentReader {
  /** By path, while somebody reads. */
  readonly #open = new Map<string, number>();
  /** By segment and place; those used last at the end. */
  readonly #lists = new Map<string, Uint32Array>();
  #remembered = 0;
  /** Files that could not be read any more: what is said of them is not all. */
  readonly lost: Set<string> = new Set();

  /** Undefined for a file that is torn, of another version or of something else. */
  read(path: string): Segment | undefined {
    const head = this.#reading(path, (file) => checkedHead(file));
    if (!head) return undefined;
    const { firstPostings } = head;
    const headBytes = head.size - (firstPostings.at(-1) ?? 0) * 4;
    return {
      ...head,
      postings: (place) => {
        const [first = 0, end = 0] = firstPostings.subarray(place, place + 2);
        return this.#list(path, `${place} ${path}`, { from: headBytes + first * 4, length: end - first });
      },
    };
  }

  #list(path: string, key: string, { from, length }: { from: number; length: number }): Uint32Array {
    const known = this.#lists.get(key);
    if (known) {
      this.#lists.delete(key);
      this.#lists.set(key, known);
      return known;
    }
    const list = this.#reading(path, (file) => readWords(file, from, length));
    if (!list) {
      this.lost.add(path);
      return new Uint32Array(0);
    }
    this.#remember(key, list);
    return list;
  }

  #remember(key: string, list: Uint32Array): void {
    this.#lists.set(key, list);
    this.#remembered += list.byteLength;
    for (const [oldest, { byteLength }] of this.#lists) {
      if (this.#remembered <= mostRemembered || oldest === key) return;
      this.#lists.delete(oldest);
      this.#remembered -= byteLength;
    }
  }

  #reading<T>(path: string, use: (file: number) => T | undefined): T | undefined {
    try {
      const file = this.#open.get(path) ?? openSync(path, "r");
      this.#open.set(path, file);
      return use(file);
    } catch {
      // It went away, or may not be read: then it is as if it had not been there.
      return undefined;
    }
  }

  /** Closes the files; they are opened again when needed. */
  rest(): void {
    for (const file of this.#open.values()) closeSync(file);
    this.#open.clear();
  }
}

/** What is in front of the postings, once the whole file was found to be whole. */
function checkedHead(file: number): Omit<Segment, "postings"> | undefined {
  const { size } = fstatSync(file);
  const header = readWords(file, 0, headerWords);
  const words = header && headWords(header, size);
  if (!header || words === undefined) return undefined;
  const all = readWords(file, 0, words);
  return all && sumOfFile(file, header, size) === header[headerWords - 1] ? segmentHead(all) : undefined;
}

function sumOfFile(file: number, header: Uint32Array, size: number): number {
  const stretch = new Uint8Array(Math.min(size, stretchBytes));
  let sum = sumOfHeader(header);
  for (let at = headerWords * 4; at < size; ) {
    const read = readSync(file, stretch, 0, Math.min(stretch.length, size - at), at);
    if (read === 0) return -1;
    sum = crc32(stretch.subarray(0, read), sum);
    at += read;
  }
  return sum;
}

function readWords(file: number, from: number, length: number): Uint32Array | undefined {
  const words = new Uint32Array(length);
  const bytes = new Uint8Array(words.buffer);
  for (let at = 0; at < bytes.length; ) {
    const read = readSync(file, bytes, at, bytes.length - at, from + at);
    if (read === 0) return undefined;
    at += read;
  }
  return words;
}
