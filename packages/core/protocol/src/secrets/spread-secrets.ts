/**
 * Spread secrets: known values in wrapped base64, and in hex with the separators of dumps between the bytes.
 */
import { base64Starts, hexStarts, type Starts } from "./spread-starts.ts";
import { base64Spread, hexSpread, isOpenAt, walkSpelling } from "./walk-spelling.ts";

export interface SecretValue {
  /** For example the variable it comes from; appears in the placeholder. */
  readonly name: string;
  readonly value: string;
}

export interface SpreadHit {
  readonly value: SecretValue;
  readonly at: number;
  readonly length: number;
}

/** Built once for a set of values. */
export interface SpreadSecrets {
  readonly base64: Starts<SecretValue>;
  readonly hex: Starts<SecretValue>;
}

/** Positions checked between two pauses. */
const slice = 256;

export function spreadSecrets(
  cores: readonly (readonly [string, SecretValue])[],
  values: readonly SecretValue[],
): SpreadSecrets {
  const hex = values.map((value) => [hexOf(value.value), value] as const);
  return { base64: base64Starts(cores), hex: hexStarts(hex) };
}

/** Yields hits as they are found; undefined after each slice of the work. */
export function* spreadHits(
  text: string,
  { base64, hex }: SpreadSecrets,
): Generator<SpreadHit | undefined, void> {
  let examined = 0;
  for (const { spelling, value, at, next, matched } of base64.startsIn(text)) {
    const end = walkSpelling(text, { spelling, at: next, matched }, base64Spread);
    if (end > 0) yield { value, at, length: end - at };
    examined += 1;
    if (examined % slice === 0) yield undefined;
  }
  yield undefined;
  for (const { spelling, value, at } of hex.startsIn(text)) {
    const end = walkSpelling(text, { spelling, at, matched: 0 }, hexSpread);
    if (end > 0) yield { value, at, length: end + textBeside(text, end) - at };
    examined += 1;
    if (examined % slice === 0) yield undefined;
  }
}

/** The position from which the end of a text may begin a spread value; otherwise the text's length. */
export function openSpread(text: string, { base64, hex }: SpreadSecrets): number {
  let first = text.length;
  for (const { spelling, at } of base64.endingsIn(text))
    if (at < first && isOpenAt(text, { spelling, at, matched: 0 }, base64Spread)) first = at;
  for (const { spelling, at } of hex.endingsIn(text))
    if (at < first && isOpenAt(text, { spelling, at, matched: 0 }, hexSpread)) first = at;
  return first;
}

/** The text column beside the last bytes of a dump shows them, too. */
function textBeside(text: string, end: number): number {
  return /^[ \t0-9A-Fa-f]*[ \t]{2}[^\r\n]{0,20}/.exec(text.slice(end, end + 80))?.[0].length ?? 0;
}

function hexOf(value: string): string {
  return [...new TextEncoder().encode(value)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
