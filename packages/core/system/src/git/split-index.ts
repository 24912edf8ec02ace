/** Joins an index that contains only changes with its base (gitformat-index(5), "Split index"). */
import { type IndexEntry, IndexFormatError } from "./index-entries.ts";

export interface SplitLink {
  /** The shared index it is based on; absent if there is none. */
  readonly base?: string;
  readonly deleted: Buffer;
  readonly replaced: Buffer;
}

export function readLink(link: Buffer, idBytes: number): SplitLink {
  const id = link.subarray(0, idBytes);
  if (id.every((byte) => byte === 0)) return { deleted: noBits, replaced: noBits };
  const rest = link.subarray(idBytes);
  if (rest.length === 0) return { base: id.toString("hex"), deleted: noBits, replaced: noBits };
  const end = bitmapEnd(rest);
  return { base: id.toString("hex"), deleted: rest.subarray(0, end), replaced: rest.subarray(end) };
}

const noBits = Buffer.alloc(0);

/** *Contract:* throws `IndexFormatError` or a `RangeError` if the two do not match. */
export function joinIndexes(
  own: readonly IndexEntry[],
  base: readonly IndexEntry[],
  { deleted, replaced }: SplitLink,
): readonly IndexEntry[] {
  const gone = new Set(bitsOf(deleted, base.length));
  const others = new Map<number, IndexEntry>();
  // Entries that replace one of the base come first, without a name.
  let next = 0;
  for (const place of bitsOf(replaced, base.length)) {
    const [entry, old] = [own[next++], base[place]];
    if (!entry || !old) throw new IndexFormatError("a replaced entry is missing");
    others.set(place, { ...entry, path: old.path });
  }
  const kept = base.flatMap((entry, place) => (gone.has(place) ? [] : [others.get(place) ?? entry]));
  return [...kept, ...own.slice(next)].sort((a, b) =>
    a.path < b.path ? -1 : a.path > b.path ? 1 : a.stage - b.stage,
  );
}

const headBytes = 8;
const wordBytes = 8;
const wordBits = 64;

/** Its number of bits, its number of words, these, and the position of the last word that counts others. */
function bitmapEnd(bytes: Buffer): number {
  return headBytes + bytes.readUInt32BE(4) * wordBytes + 4;
}

/**
 * The positions of ones in a bitmap of git's EWAH form: words that count others, each followed by literal
 * words.
 */
function bitsOf(bitmap: Buffer, size: number): readonly number[] {
  if (bitmap.length === 0) return [];
  const end = headBytes + bitmap.readUInt32BE(4) * wordBytes;
  const places: number[] = [];
  let word = 0;
  for (let at = headBytes; at < end; ) {
    const marker = bitmap.readBigUInt64BE(at);
    at += wordBytes;
    const run = Number((marker >> 1n) & 0xff_ff_ff_ffn);
    const isOnes = (marker & 1n) === 1n;
    const last = Math.min((word + run) * wordBits, size);
    for (let bit = word * wordBits; isOnes && bit < last; bit++) places.push(bit);
    word += run;
    for (let left = Number(marker >> 33n); left > 0; left--, word++, at += wordBytes) {
      const bits = bitmap.readBigUInt64BE(at);
      for (let bit = 0; bit < wordBits; bit++) {
        if ((bits >> BigInt(bit)) & 1n) places.push(word * wordBits + bit);
      }
    }
  }
  if (places.some((place) => place >= size)) throw new IndexFormatError("a bitmap names more than there is");
  return places;
}
