/** Whether a script is of a size that a parser reads at once: some repetitions cost it the square of their number. */

const longest = 200_000;

/** Measured with 8,000 of each: seconds, or the end of the parser. */
const costly: readonly (readonly [pattern: RegExp, most: number])[] = [
  [/\|/gu, 3_000],
  [/<</gu, 400],
  [/=\(/gu, 600],
  [/\$\[/gu, 400],
];

export function isReadable(text: string): boolean {
  if (text.length > longest) return false;
  return costly.every(([pattern, most]) => (text.match(pattern)?.length ?? 0) <= most);
}
