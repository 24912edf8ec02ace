/** Literal secrets: values known by name, and their other spellings. */

import { type SecretValue, type SpreadSecrets, spreadSecrets } from "./spread-secrets.ts";

export interface LiteralSecrets {
  /** Matches any spelling; absent if there are no values. */
  readonly pattern: RegExp | undefined;
  readonly of: ReadonlyMap<string, SecretValue>;
  readonly spread: SpreadSecrets;
}

/** Shorter values occur in too many texts by chance. */
const minLength = 6;

export function literalSecrets(values: readonly SecretValue[]): LiteralSecrets {
  const of = new Map<string, SecretValue>();
  const known = values.filter(({ value }) => value.trim().length >= minLength);
  const cores = known.flatMap((one) => base64Cores(one.value).map((core) => [core, one] as const));
  const spread = spreadSecrets(cores, known);
  for (const one of known) {
    for (const spelling of spellings(one.value)) if (!of.has(spelling)) of.set(spelling, one);
  }
  const longestFirst = [...of.keys()].sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return { pattern: undefined, of, spread };
  return { pattern: new RegExp(longestFirst.map(escaped).join("|"), "g"), of, spread };
}

function spellings(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const whole = [value, json, json.replaceAll("/", "\\/"), ...escapedForms(value)];
  return [...whole, ...base64Cores(value).flatMap((core) => [core, ...escapedForms(core)])];
}

function base64Cores(value: string): readonly string[] {
  const plain = [0, 1, 2].map((before) => base64Core(value, before)).filter((core) => core.length >= 8);
  const safe = plain.map((core) => core.replaceAll("+", "-").replaceAll("/", "_"));
  return [...new Set([...plain, ...safe])];
}

/** The spellings of a text in URLs, in HTML, and in JSON from servers that escape slashes. */
function escapedForms(text: string): readonly string[] {
  const url = encodeURIComponent(text);
  const html = text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
  return [url, url.replace(/%../g, (hex) => hex.toLowerCase()), text.replaceAll("/", "\\/"), html];
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The base64 characters that depend only on the value, if this many bytes precede it. */
function base64Core(value: string, before: number): string {
  const bytes = [...new Array<number>(before).fill(0), ...new TextEncoder().encode(value)];
  let text = "";
  for (let bit = 0; bit + 6 <= bytes.length * 8; bit += 6) {
    const pair = ((bytes[bit >> 3] ?? 0) << 8) | (bytes[(bit >> 3) + 1] ?? 0);
    text += alphabet[(pair >> (10 - (bit & 7))) & 63];
  }
  return text.slice(Math.ceil((before * 8) / 6));
}
