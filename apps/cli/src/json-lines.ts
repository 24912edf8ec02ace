/** Lines of a stream, one JSON text each: cut at LF alone, since a JSON text may hold other line separators. */

/** The lines that each piece of the stream completes, so that who asks line by line is answered at once. */
export async function* jsonLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  for await (const chunk of input) {
    const [first = "", ...lines] = decoder.decode(chunk, { stream: true }).split("\n");
    pieces.push(first);
    if (lines.length === 0) continue;
    const whole = [pieces.join(""), ...lines.slice(0, -1)];
    pieces = lines.slice(-1);
    yield whole.filter(isSolid);
  }
  yield [pieces.join("") + decoder.decode()].filter(isSolid);
}

function isSolid(line: string): boolean {
  return line.trim() !== "";
}
