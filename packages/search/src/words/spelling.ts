/** Spelling: how the words of a query are written in a text, of which an index knows their hashes alone. */
import { byteKinds, eachIdentifier, partEnd, wide, wordsOf } from "./words.ts";

export interface AskedWord {
  readonly hash: number;
  /** As it was asked for. */
  readonly text: string;
}

/** By hash: the identifier that is the word, or a part of one; as it was asked for where it is written so, too. */
export function spellings(bytes: Uint8Array, asked: readonly AskedWord[]): ReadonlyMap<number, string> {
  const texts = new Map(asked.map(({ hash, text }) => [hash, text]));
  const found = new Map<number, string>();
  const note = (hash: number | undefined, written: string, isPart: boolean): void => {
    const text = hash === undefined ? undefined : texts.get(hash);
    if (hash === undefined || text === undefined || found.get(hash) === text) return;
    // Parts of a name are told without case: `water` is what boilWater has.
    const isSame = isPart ? written.toLowerCase() === text.toLowerCase() : written === text;
    if (isSame) found.set(hash, text);
    else if (!found.has(hash)) found.set(hash, isPart ? written.toLowerCase() : written);
  };
  eachIdentifier(bytes, (start, end) => {
    const own = wordsOf(bytes, start, end);
    if (!own.some((hash) => texts.has(hash))) return;
    const written = textOf(bytes, start, end);
    note(own[0], written, false);
    if (isWide(bytes, start, end)) for (const hash of own) note(hash, written, false);
    else eachPart(bytes, { from: start, to: end }, (hash, part) => note(hash, part, true));
  });
  return found;
}

function eachPart(
  bytes: Uint8Array,
  { from, to }: { readonly from: number; readonly to: number },
  visit: (hash: number | undefined, part: string) => void,
): void {
  for (let at = from; at < to; ) {
    const next = partEnd(bytes, at, to);
    // One of a single part is no part, but all of it.
    if (at > from || next < to)
      visit(wordsOf(bytes, at, next)[0], textOf(bytes, at, next).replaceAll(/[_$]/gu, ""));
    at = next;
  }
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.subarray(start, end)).toString("utf8");
}

function isWide(bytes: Uint8Array, start: number, end: number): boolean {
  return bytes.subarray(start, end).some((byte) => byteKinds[byte] === wide);
}
