/** Across lines: whether a pattern is meant to match over several lines, and as what ripgrep is then given it. */
import type { GrepQuery } from "@lathe/protocol";

type Asked = Pick<GrepQuery, "pattern" | "literal">;

/** A newline, all characters there are, or a dot that is one of them. `\s` alone mostly means a blank. */
const crossing =
  /\n|\\[nR]|\\x0[aA]|\[(?:\\s\\S|\\S\\s|\\d\\D|\\D\\d|\\w\\W|\\W\\w)\]|\(\?[a-zA-Z]*s[a-zA-Z]*[-:)]/;

export function crossesLines({ pattern, literal = false }: Asked): boolean {
  // A backslash that stands for itself does not begin anything.
  return literal ? pattern.includes("\n") : crossing.test(pattern.replaceAll("\\\\", ""));
}

/** A newline, where it is no part of something else: after an escape or a bracket. */
const newlines = /(\\n|\r?\n)|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]/gsu;
/** Where blanks of a pattern are left out, newlines are, too. */
const isSpaced = /\(\?[a-zA-Z]*x/;

/** The same for files whose lines end in CRLF, too: a reader of the file does not see that. */
export function acrossLines({ pattern, literal = false }: Asked): string {
  if (literal) return pattern.split(/\r?\n/).map(escaped).join("\\r?\\n");
  if (isSpaced.test(pattern)) return pattern;
  return pattern.replaceAll(newlines, (token, newline?: string) => (newline ? "(?:\\r?\\n)" : token));
}

function escaped(text: string): string {
  return text.replaceAll(/[\\.+*?()|[\]{}^$]/g, "\\$&");
}
