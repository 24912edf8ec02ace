/**
 * A command's output: the first part in memory, then in an unlinked file; beyond the cap only a rolling tail.
 */
import { closeSync, mkdirSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

const inMemory = 64 * 1024;
const tailKept = 64 * 1024;

export interface CaptureOptions {
  /** Folder for the file; the file has no name once it is open. */
  readonly folder: string;
  /** Maximum bytes kept; further ones are counted, and only their end is kept. */
  readonly cap: number;
}

export interface Slice {
  readonly text: string;
  readonly next: number;
  readonly total: number;
}

let files = 0;

export class Capture {
  readonly #options: CaptureOptions;
  #memory: Buffer[] = [];
  #file: number | undefined;
  #kept = 0;
  #total = 0;
  #tail: Buffer = Buffer.alloc(0);
  #isFull = false;

  constructor(options: CaptureOptions) {
    this.#options = options;
  }

  /** Total bytes written. */
  get total(): number {
    return this.#total;
  }

  append(chunk: Buffer): void {
    this.#total += chunk.length;
    const room = this.#isFull ? 0 : this.#options.cap - this.#kept;
    const kept = chunk.subarray(0, room);
    const left = kept.length > 0 && this.#keep(kept) ? chunk.subarray(kept.length) : chunk;
    if (left.length > 0) this.#roll(left);
  }

  /** Text from byte `from` on; never splits a character unless the output ends there. */
  read(from: number, limit: number): Slice {
    const start = Math.max(0, Math.trunc(from));
    if (start >= this.#total) return { text: "", next: this.#total, total: this.#total };
    if (start < this.#kept) return this.#decode(this.bytes(start, limit), start);
    const tailStart = this.#total - this.#tail.length;
    const at = Math.max(start, tailStart);
    const slice = this.#decode(this.#tail.subarray(at - tailStart, at - tailStart + limit), at);
    const note = at > start ? leftOut(at - start) : "";
    return { ...slice, text: note + slice.text };
  }

  /** The whole text if it is short, else its first and last `side` bytes with a note about the omission. */
  headAndTail(side: number): string {
    if (this.#total <= side * 2) return this.read(0, side * 2).text;
    const head = this.read(0, side);
    const tailFrom = this.#characterStart(this.#total - side);
    return `${head.text}${leftOut(tailFrom - head.next)}${this.read(tailFrom, side).text}`;
  }

  /** Bytes kept contiguously from the start, from byte `from` on. */
  bytes(from: number, limit: number): Buffer {
    const length = Math.max(0, Math.min(limit, this.#kept - from));
    if (this.#file === undefined) return Buffer.concat(this.#memory).subarray(from, from + length);
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(this.#file, bytes, 0, length, from));
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#kept = 0;
    this.#memory = [];
  }

  #keep(chunk: Buffer): boolean {
    try {
      if (this.#file === undefined && this.#kept + chunk.length > inMemory) this.#spill();
      // A copy: the reader of the pipe reuses its buffer.
      if (this.#file === undefined) this.#memory.push(Buffer.from(chunk));
      else writeAll(this.#file, chunk);
    } catch {
      // A full disk must not end the command: from here on only the tail is kept.
      this.#isFull = true;
      return false;
    }
    this.#kept += chunk.length;
    return true;
  }

  #spill(): void {
    mkdirSync(this.#options.folder, { recursive: true });
    const path = join(this.#options.folder, `.capture-${process.pid}-${++files}`);
    const file = openSync(path, "wx+", 0o600);
    unlinkSync(path);
    writeAll(file, Buffer.concat(this.#memory));
    this.#file = file;
    this.#memory = [];
  }

  #roll(chunk: Buffer): void {
    const joined = Buffer.concat([this.#tail, chunk]);
    this.#tail = joined.length > tailKept ? Buffer.from(joined.subarray(-tailKept)) : joined;
  }

  #decode(bytes: Buffer, from: number): Slice {
    const isEnd = from + bytes.length >= this.#total;
    const whole = isEnd ? bytes.length : wholeCharacters(bytes);
    return { text: bytes.toString("utf8", 0, whole), next: from + whole, total: this.#total };
  }

  #characterStart(from: number): number {
    const tailStart = this.#total - this.#tail.length;
    const bytes =
      from < this.#kept
        ? this.bytes(from, 4)
        : this.#tail.subarray(Math.max(0, from - tailStart)).subarray(0, 4);
    const offset = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
    return from + Math.max(0, offset);
  }
}

/** Number of bytes that form whole UTF-8 characters; all of them if none would remain. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length - 1); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function writeAll(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

function leftOut(bytes: number): string {
  return `\n[... ${bytes} bytes left out ...]\n`;
}
