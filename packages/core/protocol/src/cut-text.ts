/** Cut text: a part of one, without half of a surrogate pair at the cut: that is no text on any wire. */

/** At most `chars` long. */
export function headOf(text: string, chars: number): string {
  return text.slice(0, wholeAt(text, chars));
}

/** At most `chars` long. */
export function tailOf(text: string, chars: number): string {
  const start = Math.max(0, text.length - chars);
  return text.slice(start === wholeAt(text, start) ? start : start + 1);
}

/** Where to cut: there, or before the character that this is the middle of. */
export function wholeAt(text: string, at: number): number {
  return at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at;
}
