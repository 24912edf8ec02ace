/** Cut text: shortens a text without splitting a surrogate pair, since half of one cannot be encoded. */

/** The beginning of a text, at most `chars` long. */
export function headOf(text: string, chars: number): string {
  return text.slice(0, wholeAt(text, chars));
}

/** The end of a text, at most `chars` long. */
export function tailOf(text: string, chars: number): string {
  const start = Math.max(0, text.length - chars);
  return text.slice(start === wholeAt(text, start) ? start : start + 1);
}

/** The cut position: `at`, or one before it if `at` is in the middle of a character. */
export function wholeAt(text: string, at: number): number {
  return at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at;
}
