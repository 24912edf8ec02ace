/** Placeholder: replaces a secret in a text, e.g. `[redacted github-token #a1b2]`. */

const shape = /\[redacted [a-z0-9-]+(?: #[0-9a-f]{4})?\]/g;

export function placeholderFor(kind: string, fingerprint: string | undefined): string {
  return fingerprint === undefined ? `[redacted ${kind}]` : `[redacted ${kind} #${fingerprint}]`;
}

/** The placeholders in a text: a file must not get one instead of the secret. */
export function placeholdersIn(text: string): readonly string[] {
  return text.includes("[redacted ") ? (text.match(shape) ?? []) : [];
}
