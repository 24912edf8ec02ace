/** Cut text: the head or the tail of one, without half of a surrogate pair at the cut: that is no text on any wire. */

/** At most `chars` long. */
export function headOf(text: string, chars: number): string {
  return text.slice(0, isInPair(text, chars) ? chars - 1 : chars);
}

/** At most `chars` long. */
export function tailOf(text: string, chars: number): string {
  const start = Math.max(0, text.length - chars);
  return text.slice(isInPair(text, start) ? start + 1 : start);
}

function isInPair(text: string, at: number): boolean {
  return at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff;
}
