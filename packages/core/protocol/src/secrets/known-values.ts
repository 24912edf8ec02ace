/** Known values: removes given keys from a text in all their spellings, without the other rules. */
import { literalSecrets } from "./literal-secrets.ts";
import { spreadHits } from "./spread-secrets.ts";

/**
 * *Contract:* pure; replaces each spelling of a value with the placeholder, even inside a longer encoded
 * text.
 */
export function hideKnownValues(text: string, values: readonly string[], placeholder: string): string {
  const { pattern, spread } = literalSecrets(values.map((value) => ({ name: "key", value })));
  if (!pattern) return text;
  const hits = [...spreadHits(text, spread)].filter((hit) => hit !== undefined).sort((a, b) => a.at - b.at);
  let clean = "";
  let from = 0;
  for (const { at, length } of hits) {
    if (at >= from) clean += text.slice(from, at) + placeholder;
    from = Math.max(from, at + length);
  }
  return (clean + text.slice(from)).replace(pattern, placeholder);
}
