/** Weigh: how long a text is to a tokenizer, in characters of plain code; what splits into more tokens weighs more. */

/**
 * Thirds of a token that a character costs at most, by kind: no tokenizer is at hand, so each is as dear as the families'
 * dearest. Digits are tokens of their own to some; random letters, as in keys and base64, come two or three to a token;
 * other scripts one to three tokens to a character.
 */
const weights = {
  lower: 0.9,
  upper: 1.5,
  digit: 3,
  blank: 0.75,
  sign: 1.8,
  latin: 2.5,
  wide: 4.5,
  astral: 4.5,
} as const;

const ascii: readonly number[] = Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z]/.test(character)) return weights.lower;
  if (/[A-Z]/.test(character)) return weights.upper;
  if (/\d/.test(character)) return weights.digit;
  return /[\s]/.test(character) ? weights.blank : weights.sign;
});

/** In plain characters; at least as many as the text has. */
export function weigh(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    sum += ascii[code] ?? (code < 0x2000 ? weights.latin : code < 0xd800 ? weights.wide : weights.astral);
  }
  return Math.max(text.length, Math.ceil(sum));
}
