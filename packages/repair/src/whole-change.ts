/** Whole change: what a text with an edit differs in from the text, the same for all edits that make the same text. */

/** Of an edit, `source[start, end)` replaced by `text`: undefined where it changes nothing that matters. */
export type ChangeKey = (start: number, end: number, text: string) => string | undefined;

/**
 * Differences in white space within a line do not matter. The cost is that of the lines that differ, not of the file:
 * files of tables have tens of thousands of candidates.
 */
export function changeKeys(source: string): ChangeKey {
  const lines = source.split("\n");
  const starts = [0];
  for (const line of lines) starts.push((starts.at(-1) ?? 0) + line.length + 1);
  const plain = lines.map(normal);
  return (start, end, text) => {
    const [first, last] = [lineAt(starts, start), lineAt(starts, end)];
    const from = starts[first] ?? 0;
    const until = (starts[last] ?? 0) + (lines[last]?.length ?? 0);
    const made = (source.slice(from, start) + text + source.slice(end, until)).split("\n").map(normal);
    const shift = made.length - (last - first + 1);
    const total = lines.length + shift;
    /** Of the text with the edit. */
    const lineOf = (at: number): string | undefined =>
      at < first || at >= first + made.length ? plain[at < first ? at : at - shift] : made[at - first];
    let head = first;
    while (head < Math.min(lines.length, total) && plain[head] === lineOf(head)) head++;
    if (head === lines.length && head === total) return undefined;
    let tail = Math.min(lines.length - last - 1, Math.min(lines.length, total) - head);
    tail = Math.max(tail, 0);
    while (
      tail < Math.min(lines.length, total) - head &&
      plain[lines.length - 1 - tail] === lineOf(total - 1 - tail)
    )
      tail++;
    const middle = Array.from({ length: total - tail - head }, (_, at) => lineOf(head + at));
    return `${head} ${tail} ${total} ${middle.join("\n")}`;
  };
}

function lineAt(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length - 2];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** A line without differences that cannot matter; what it is indented by does. */
function normal(line: string): string {
  const indent = /^[ \t]*/.exec(line)?.[0] ?? "";
  return indent + line.slice(indent.length).replace(/[ \t]+/g, " ");
}
