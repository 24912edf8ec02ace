/** Spread secrets: known values in base64 that is wrapped, and in hex with what dumps put between: found in a closed-up copy of a text. */

export interface SecretValue {
  /** For example the variable it comes from; the placeholder names it. */
  readonly name: string;
  readonly value: string;
}

export interface SpreadHit {
  readonly value: SecretValue;
  readonly at: number;
  readonly length: number;
}

/** Built once for some values. */
export interface SpreadSecrets {
  readonly base64: ReadonlyMap<string, SecretValue>;
  readonly hex: ReadonlyMap<string, SecretValue>;
}

/** Line ends, also escaped, with the marks of a quoted line. */
const wraps = /=?(?:\r?\n|\\r\\n|\\n|%0[Aa])[ \t>|]{0,8}/g;
/** What stands between two bytes: separators, and at a line's end the text beside them and the next address. */
const gaps =
  /[ \t]{2}[^\n]{0,20}\n(?:[0-9A-Fa-f]{4,8}:?[ \t]{1,4})?|(?:\r?\n|\\n)(?:[0-9A-Fa-f]{4,8}:?[ \t]{1,4})?|0x|\\{1,2}x|[ \t:,;%-]/g;

export function spreadSecrets(
  cores: readonly (readonly [string, SecretValue])[],
  values: readonly SecretValue[],
): SpreadSecrets {
  const hex = values.map((value) => [hexOf(value.value), value] as const);
  return { base64: new Map(cores), hex: new Map(hex) };
}

export function spreadHits(text: string, { base64, hex }: SpreadSecrets): readonly SpreadHit[] {
  return [...closedHits(text, wraps, base64), ...closedHits(text, gaps, hex)];
}

function closedHits(
  text: string,
  apart: RegExp,
  wanted: ReadonlyMap<string, SecretValue>,
): readonly SpreadHit[] {
  if (wanted.size === 0) return [];
  const isHex = apart === gaps;
  const closed = isHex ? text.replace(apart, "").toLowerCase() : text.replace(apart, "");
  const hits: SpreadHit[] = [];
  const found = [...wanted].flatMap(([spelling, value]) =>
    closed.includes(spelling) ? [{ spelling, value }] : [],
  );
  if (found.length === 0) return [];
  const places = placesOf(text, apart);
  for (const { spelling, value } of found)
    for (let at = closed.indexOf(spelling); at >= 0; at = closed.indexOf(spelling, at + spelling.length)) {
      const start = places(at);
      const end = places(at + spelling.length - 1) + 1;
      // The text beside the last bytes of a dump shows them, too.
      const aside = isHex
        ? (/^[ \t0-9A-Fa-f]*[ \t]{2}[^\n]{0,20}/.exec(text.slice(end, end + 80))?.[0].length ?? 0)
        : 0;
      hits.push({ value, at: start, length: end + aside - start });
    }
  return hits;
}

/** Where a character of the closed-up copy stands in the text; asked in any order. */
function placesOf(text: string, apart: RegExp): (at: number) => number {
  // Where pieces begin, in the copy and in the text.
  const copies = [0];
  const starts = [0];
  for (const { 0: gap, index } of text.matchAll(apart)) {
    copies.push((copies.at(-1) ?? 0) + index - (starts.at(-1) ?? 0));
    starts.push(index + gap.length);
  }
  return (at) => {
    let [low, high] = [0, copies.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((copies[middle] ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    return (starts[low] ?? 0) + at - (copies[low] ?? 0);
  };
}

function hexOf(value: string): string {
  return [...new TextEncoder().encode(value)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
