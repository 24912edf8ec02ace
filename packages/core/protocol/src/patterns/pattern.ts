/** Patterns: the common form of all kinds of globs. */

export type Part =
  | { readonly type: "text"; readonly text: string }
  /** A single character of a class, written as in a regular expression with the flags `s` and `u`. */
  | { readonly type: "one"; readonly of: string }
  /** Any number of characters of a class. */
  | { readonly type: "many"; readonly of: string }
  | { readonly type: "either"; readonly of: readonly Pattern[] };

export type Pattern = readonly Part[];

/** Classes that most globs need. */
export const anyCharacter = ".";
export const withinFolder = "[^/]";

export function text(of: string): Part {
  return { type: "text", text: of };
}

export function one(of: string): Part {
  return { type: "one", of };
}

export function many(of: string): Part {
  return { type: "many", of };
}

export function either(...of: readonly Pattern[]): Part {
  return { type: "either", of };
}

export type TextMatcher = (text: string) => boolean;
