/** Texts: file contents as lines, each made once, with what of a line counts when texts are compared. */

export interface Text {
  readonly content: string;
  readonly lines: readonly string[];
  /** The lines with all runs of whitespace as one space and none at the ends. */
  readonly plain: readonly string[];
}

/** Larger files, and files with a NUL byte, are not followed. */
const mostCharacters = 2_000_000;

export type Texts = (content: string) => Text | undefined;

/** The same object for the same content, so that equal texts are one. */
export function createTexts(): Texts {
  const known = new Map<string, Text>();
  return (content) => {
    const found = known.get(content);
    if (found) return found;
    if (content.length > mostCharacters || content.includes("\0")) return undefined;
    const lines = content.split(/\r?\n/);
    if (lines.at(-1) === "") lines.pop();
    const text = { content, lines, plain: lines.map((line) => line.trim().replace(/\s+/g, " ")) };
    known.set(content, text);
    return text;
  };
}

const significant = /[\p{L}\p{N}]/gu;

/** Letters and digits of a line: how much it says. */
export function weightOf(line: string): number {
  return line.match(significant)?.length ?? 0;
}
