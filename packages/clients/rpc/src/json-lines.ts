/**
 * Reads lines of a stream, one JSON text each: split at LF only, since JSON may contain other line
 * separators.
 */

/** A line over the limit, whose text is discarded. */
export interface TooLong {
  readonly bytes: number;
}

/** Yields the lines that each chunk completes, so that an interactive client gets its answer at once. */
export async function* jsonLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
  for await (const lines of boundedLines(input, Number.POSITIVE_INFINITY))
    yield lines.flatMap((line) => (typeof line === "string" ? [line] : []));
}

/** The same, but a line of more than `most` bytes is dropped, and only its length is reported. */
export async function* boundedLines(
  input: AsyncIterable<Uint8Array>,
  most: number,
): AsyncGenerator<readonly (string | TooLong)[]> {
  const open: OpenLine = { pieces: [], bytes: 0 };
  for await (const chunk of input) {
    const whole: (string | TooLong)[] = [];
    let start = 0;
    for (let end = chunk.indexOf(lf); end >= 0; end = chunk.indexOf(lf, start)) {
      add(open, chunk.subarray(start, end), most);
      whole.push(taken(open, most));
      start = end + 1;
    }
    add(open, chunk.subarray(start), most);
    if (start > 0) yield whole.filter(isSolid);
  }
  yield [taken(open, most)].filter(isSolid);
}

const lf = 0x0a;

interface OpenLine {
  pieces: Uint8Array[];
  bytes: number;
}

function add(open: OpenLine, piece: Uint8Array, most: number): void {
  open.bytes += piece.length;
  if (open.bytes > most) open.pieces = [];
  // The stream may reuse its buffer.
  else if (piece.length > 0) open.pieces.push(piece.slice());
}

function taken(open: OpenLine, most: number): string | TooLong {
  const { bytes, pieces } = open;
  open.pieces = [];
  open.bytes = 0;
  return bytes > most ? { bytes } : new TextDecoder().decode(joined(pieces, bytes));
}

/** Avoids `Buffer`, which browsers lack. */
function joined(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  const [only] = pieces;
  if (pieces.length === 1 && only) return only;
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function isSolid(line: string | TooLong): boolean {
  return typeof line !== "string" || line.trim() !== "";
}
