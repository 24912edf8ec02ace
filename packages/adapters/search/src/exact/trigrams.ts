/** Trigrams: the runs of three bytes within a line, letters folded, that exact search narrows files down by. */

/** Files indexed under another version are indexed again. */
export const trigramsVersion: number = 1;
/** All trigrams there can be. */
export const trigramSpace: number = 1 << 24;

const newline = 10;
const carriageReturn = 13;

const kelvin = [0xe2, 0x84, 0xaa];
const longS = [0xc5, 0xbf];

const lower = new Uint8Array(128);
for (let byte = 0; byte < 128; byte++) lower[byte] = byte >= 65 && byte <= 90 ? byte + 32 : byte;

/** Collects the trigrams of one text after the other. */
export interface TrigramSet {
  /** *Contract:* the trigrams of these bytes, each once, in no order; valid until the next call. */
  collect(bytes: Uint8Array): Uint32Array;
}

/**
 * Capital letters count as small ones, and so do the two other characters that fold to an ASCII letter: the Kelvin sign
 * and the long s. So one index answers patterns in any case. Line ends are in no trigram: no match of a pattern for lines
 * crosses one, and what git does to carriage returns does not matter.
 */
export function createTrigramSet(): TrigramSet {
  const seen = new Uint32Array(trigramSpace / 32);
  let found = new Uint32Array(1 << 14);
  let count = 0;
  const add = (trigram: number): void => {
    const word = trigram >>> 5;
    const bit = 1 << (trigram & 31);
    const bits = seen[word] as number;
    if ((bits & bit) !== 0) return;
    seen[word] = bits | bit;
    if (count === found.length) {
      const larger = new Uint32Array(count * 2);
      larger.set(found);
      found = larger;
    }
    found[count++] = trigram;
  };
  return {
    collect(bytes) {
      for (let at = 0; at < count; at++) seen[(found[at] as number) >>> 5] = 0;
      count = 0;
      scan(bytes, add);
      return found.subarray(0, count);
    },
  };
}

function scan(bytes: Uint8Array, add: (trigram: number) => void): void {
  let trigram = 0;
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    let byte = bytes[at] as number;
    if (byte === newline || byte === carriageReturn) {
      length = 0;
      continue;
    }
    if (byte < 128) byte = lower[byte] as number;
    else if (byte === kelvin[0] || byte === longS[0]) {
      const [letter, extra] = foldedAt(bytes, at);
      byte = letter;
      at += extra;
    }
    trigram = ((trigram << 8) | byte) & 0xffffff;
    if (++length >= 3) add(trigram);
  }
}

/** The byte that stands for what is there, and how many more bytes it stands for. */
function foldedAt(bytes: Uint8Array, at: number): readonly [byte: number, extra: number] {
  if (kelvin.every((byte, i) => bytes[at + i] === byte)) return [0x6b, kelvin.length - 1];
  if (longS.every((byte, i) => bytes[at + i] === byte)) return [0x73, longS.length - 1];
  return [bytes[at] as number, 0];
}

/** A character as the bytes that stand for it in trigrams, one character per byte. */
export function foldedBytes(character: string): string {
  if (character === "\u212a") return "k";
  if (character === "\u017f") return "s";
  const folded = character.length === 1 && character < "\x80" ? character.toLowerCase() : character;
  return Buffer.from(folded).toString("latin1");
}

/** Of a text as `foldedBytes` gives it. */
export function trigramsOfFolded(text: string): readonly number[] {
  const found = new Set<number>();
  for (let at = 0; at + 2 < text.length; at++) {
    found.add((text.charCodeAt(at) << 16) | (text.charCodeAt(at + 1) << 8) | text.charCodeAt(at + 2));
  }
  return [...found];
}
