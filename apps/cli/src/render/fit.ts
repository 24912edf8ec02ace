/** Text made to fit: one line, cut with an ellipsis where it is too long, stripped of what moves the cursor. */
import { stripVTControlCharacters } from "node:util";

/** The text as one line of at most `width` characters. */
export function fit(text: string, width: number): string {
  const line = harmless(text).replace(/\s+/g, " ").trim();
  if (line.length <= width) return line;
  return `${line.slice(0, Math.max(0, width - 1))}…`;
}

/** The last `limit` lines that say something. */
export function lastLines(text: string, limit: number): readonly string[] {
  const lines = harmless(text)
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "");
  return lines.slice(-limit);
}

/** Without escape sequences and control characters: what a model or a command says must not drive the terminal. */
export function harmless(text: string): string {
  return stripVTControlCharacters(text).replace(/(?![\n\t])\p{Cc}/gu, "");
}
