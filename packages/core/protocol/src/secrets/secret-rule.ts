/** Secret rules: what keys and passwords look like, as data; each has examples that serve as tests. */

export interface SecretRule {
  /** The kind that the placeholder names. */
  readonly kind: string;
  /** The text it begins with, as the source of a regular expression without unbounded quantifiers. */
  readonly anchor: string;
  /**
   * Matches from the anchor on. The group `secret` is removed, or the whole match if there is none. Every
   * repetition has an upper bound, so that matching takes linear time.
   */
  readonly shape: RegExp;
  /** Receives the secret; whether it really is one. */
  readonly check?: (secret: string) => boolean;
  /** The text right before the anchor may be part of a word. */
  readonly inWord?: true;
  /**
   * `~` is removed before use: it keeps scanners, including this one, from reporting an example as a secret.
   */
  readonly examples: { readonly secret: readonly string[]; readonly harmless: readonly string[] };
}

/** Random enough for a secret: letters and digits mixed, and not one repeated character. */
function isRandom(text: string): boolean {
  return /\d/.test(text) && /[A-Za-z]/.test(text) && entropy(text) >= 3;
}

/** The count of each ASCII character: all zero between two calls. */
const counts = new Uint32Array(128);

/** Shannon entropy, in bits per character. */
export function entropy(text: string): number {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= counts.length) {
      counts.fill(0);
      return entropyOfAny(text);
    }
    counts[code] = (counts[code] ?? 0) + 1;
  }
  let bits = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const share = (counts[code] ?? 0) / text.length;
    if (share > 0) bits -= share * Math.log2(share);
    counts[code] = 0;
  }
  return bits;
}

function entropyOfAny(text: string): number {
  const byChar = new Map<string, number>();
  for (const char of text) byChar.set(char, (byChar.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of byChar.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** Words in documentation and templates that replace a secret. */
const placeholders =
  /example|placeholder|change[-_ ]?me|change[-_ ]?this|your[-_ ]|dummy|sample|redacted|fake|xxxx|\*\*\*|\.\.\.|1234567|abcdef|test[-_]?(?:key|token|secret|pass)|<[^>]*>|\$\{|\$\(|\{\{|%[sd(]|process\.env|os\.environ|^\$[A-Za-z_]/i;

/** Documented example keys and templates are not secrets: a model needs to read them unchanged. */
export function isPlaceholder(text: string): boolean {
  return placeholders.test(text) || /^(.)\1*$/s.test(text);
}

/** Placeholder passwords in documentation and in addresses of local databases. */
const commonPasswords = new Set(
  "admin guest password passwd pass postgres pwd root secret test token user username mysql redis rabbitmq minio p pw".split(
    " ",
  ),
);

export function isRealPassword(text: string): boolean {
  return (
    !isPlaceholder(text) && !commonPasswords.has(text.toLowerCase()) && !/^[$%:]|[{}<>`|\\()]/.test(text)
  );
}

export function isRealKey(text: string): boolean {
  return isRandom(text) && !isPlaceholder(text);
}
