/** Memory lines: the facts of a memory file, one a line as `- fact`; every other byte is a person's own. */

export interface FactLine {
  readonly fact: string;
  /** Bytes of the line, with what ends it. */
  readonly start: number;
  readonly end: number;
}

const lineFeed = 0x0a;
const mark: readonly number[] = [0xef, 0xbb, 0xbf];

export function factLines(bytes: Uint8Array): readonly FactLine[] {
  const lines: FactLine[] = [];
  const decoder = new TextDecoder();
  for (let start = markLength(bytes), end = start; start < bytes.length; start = end) {
    end = bytes.indexOf(lineFeed, start) + 1 || bytes.length;
    const fact = /^- +(.*\S)/u.exec(decoder.decode(bytes.subarray(start, end)))?.[1];
    if (fact !== undefined) lines.push({ fact, start, end });
  }
  return lines;
}

export function withFact(bytes: Uint8Array, fact: string): Uint8Array {
  const first = bytes.indexOf(lineFeed);
  const ending = first > 0 && bytes[first - 1] === 0x0d ? "\r\n" : "\n";
  const isOpen = bytes.length > markLength(bytes) && bytes.at(-1) !== lineFeed;
  return Buffer.concat([bytes, Buffer.from(`${isOpen ? ending : ""}- ${fact}${ending}`)]);
}

export function withoutFact(bytes: Uint8Array, { start, end }: FactLine): Uint8Array {
  return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
}

/** Of a byte order mark. */
function markLength(bytes: Uint8Array): number {
  return mark.every((byte, at) => bytes[at] === byte) ? mark.length : 0;
}
