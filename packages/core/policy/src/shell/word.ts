/** A word of a command, after the script was followed up to it. */
import { escapeGlob } from "../globs/shell-glob.ts";

export interface Word {
  /** The value without quotes; parts that only the shell can expand stay as written. */
  readonly text: string;
  /** Whether the shell takes the text as it is, with nothing left to expand but file globs. */
  readonly isLiteral: boolean;
  /** The text as a glob: quoted characters are escaped, so that only the shell's wildcards are active. */
  readonly glob: string;
  /** As written. */
  readonly raw: string;
}

export const emptyWord: Word = { text: "", glob: "", isLiteral: true, raw: "" };

/** A word without expansions. */
export function literal(text: string): Word {
  return { text, glob: escapeGlob(text), isLiteral: true, raw: text };
}

/** The value of an unknown variable. */
export function unknown(name: string): Word {
  return { text: `$${name}`, glob: `$${name}`, isLiteral: false, raw: `$${name}` };
}

/** Several words as one, as if quoted. */
export function joined(words: readonly Word[]): Word | undefined {
  const [first] = words;
  if (!first) return undefined;
  const text = words.map((word) => word.text).join(" ");
  return {
    text,
    glob: escapeGlob(text),
    isLiteral: words.every(({ isLiteral }) => isLiteral),
    raw: first.raw,
  };
}
