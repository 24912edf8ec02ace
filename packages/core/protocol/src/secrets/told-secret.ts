/**
 * Told secret: detects a sentence that names a secret next to a random-looking value, such as "the db
 * password is ...".
 */
import { isRandomQuoted } from "./named-secret.ts";
import { entropy, isPlaceholder } from "./secret-rule.ts";

const names = /\b(?:pass(?:word|wd|phrase|code)|pwd|secret|token|credential|(?:[a-z]+[_-]?)?key)s?\b/giu;

/** Words right before a value that is no secret, however random it looks. */
const harmless =
  /\b(?:commit|revision|rev|sha\d*|md5|hash|digest|checksum|fingerprint|id|uuid|version|build|ticket|issue|hosts?|host name|bucket|file|folder|branch|tag|image|user|account)(?: is|:|=)?$/iu;

/** Maximum words between the name and the value, in either order. */
const nearness = 8;
const around = /^[-"'`<([{*_,;:!?.]+|["'`>)\]}*_,;:!?.]+$/gu;

/** *Contract:* pure; knows no rules of languages or issuers, which the redactor has. */
export function tellsSecret(text: string): boolean {
  const words = [...text.matchAll(/\S+/gu)];
  const named = [...text.matchAll(names)].map(({ index }) =>
    words.findLastIndex((word) => word.index <= index),
  );
  return words.some(
    ({ 0: word, index }, at) =>
      named.some((name) => name !== at && Math.abs(name - at) <= nearness + 1) &&
      isRandomWord(word.replace(around, "")) &&
      !harmless.test(text.slice(0, index).trimEnd()),
  );
}

/** In a sentence, names of all kinds appear without quotes. */
function isRandomWord(value: string): boolean {
  if (value.length < 8 || isPlaceholder(value) || isName(value)) return false;
  return isRandomQuoted(value) || isRandomText(value);
}

/** Without a sign that distinguishes keys from names, only the letters can decide. */
function isRandomText(value: string): boolean {
  const kinds = [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(value)).length;
  return /^[A-Za-z\d]+$/.test(value) && kinds >= 2 && entropy(value) >= 2.75;
}

/** Short git digests, email addresses, timestamps, files. */
const otherThings =
  /^(?:[0-9a-f]{7,15}|[^@\s]+@[\w-]+(?:\.[a-z]+)+|\d{4}-\d\d-\d\d.*|[\w@~./-]*\/[\w.-]+\.[a-z]{1,4})$/;

/** Consists of words: names with a number, paths, expressions. */
function isName(value: string): boolean {
  if (otherThings.test(value)) return true;
  if ((value.match(/[a-z]\d+(?=[a-z])/gi)?.length ?? 0) > 1) return false;
  const words = value.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g) ?? [];
  // Short words in capitals are abbreviations, so they are ignored.
  const told = words.filter((word) => !/^(?:\d+|[A-Z]{2,5})$/.test(word));
  const spoken = told.filter(isSpoken).join("").length;
  return words.length * 3 <= words.join("").length + 1 && spoken >= 0.7 * told.join("").length;
}

/** A word has vowels, and never many consonants in a row. */
function isSpoken(word: string): boolean {
  const vowels = word.match(/[aeiouy]/gi)?.length ?? 0;
  return word.length >= 2 && vowels * 6 >= word.length && !/[^aeiouy]{5}/i.test(word);
}
