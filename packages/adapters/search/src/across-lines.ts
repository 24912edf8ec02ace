/** Across lines: whether a pattern should match across lines, and the form that ripgrep then gets. */
import type { GrepQuery } from "@lathe/protocol";

type Asked = Pick<GrepQuery, "pattern" | "literal">;

/** A newline, any character, or a dot that matches newlines. `\s` alone usually means a blank. */
const crossing =
  /\n|\\[nR]|\\x0[aA]|\[(?:\\s\\S|\\S\\s|\\d\\D|\\D\\d|\\w\\W|\\W\\w)\]|\(\?[a-zA-Z]*s[a-zA-Z]*[-:)]/;

export function crossesLines({ pattern, literal = false }: Asked): boolean {
  // An escaped backslash does not begin another escape.
  return literal ? pattern.includes("\n") : crossing.test(pattern.replaceAll("\\\\", ""));
}

/** A newline that is not part of something else, such as an escape or a bracket. */
const newlines = /(\\n|\r?\n)|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]/gsu;
/** In this mode blanks in a pattern are ignored, and so are newlines. */
const isSpaced = /\(\?[a-zA-Z]*x/;

/** Also matches files whose lines end in CRLF, which a reader of the file does not see. */
export function acrossLines({ pattern, literal = false }: Asked): string {
  if (literal) return pattern.split(/\r?\n/).map(escaped).join("\\r?\\n");
  if (isSpaced.test(pattern)) return pattern;
  return pattern.replaceAll(newlines, (token, newline?: string) => (newline ? "(?:\\r?\\n)" : token));
}

function escaped(text: string): string {
  return text.replaceAll(/[\\.+*?()|[\]{}^$]/g, "\\$&");
}
