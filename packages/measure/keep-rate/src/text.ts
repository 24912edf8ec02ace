/** Texts: file contents as lines, with the part of each line that counts in comparisons; each text is built once. */

export interface Text {
  readonly content: string;
  readonly lines: readonly string[];
  /** The lines with whitespace collapsed to single spaces and trimmed. */
  readonly plain: readonly string[];
}

/** Larger files, and files with a NUL byte, are not followed. */
const maxCharacters = 2_000_000;

export type Texts = (content: string) => Text | undefined;

/** Returns the same object for the same content, so that texts can be compared by identity. */
export function createTexts(): Texts {
  const known = new Map<string, Text>();
  return (content) => {
    const found = known.get(content);
    if (found) return found;
    if (content.length > maxCharacters || content.includes("\0")) return undefined;
    const lines = content.split(/\r?\n/);
    if (lines.at(-1) === "") lines.pop();
    const text = { content, lines, plain: lines.map((line) => line.trim().replace(/\s+/g, " ")) };
    known.set(content, text);
    return text;
  };
}

const significant = /[\p{L}\p{N}]/gu;

/** Number of letters and digits, as a measure of how specific a line is. */
export function weightOf(line: string): number {
  return line.match(significant)?.length ?? 0;
}
