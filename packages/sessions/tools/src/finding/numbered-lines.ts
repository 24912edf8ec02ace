/** Lines of a text with their numbers, as the model sees them. */

import { headOf } from "@lathe/protocol";

/** The most characters shown of one line. */
const lineChars = 2_000;

/** Lines without their endings and without a byte order mark; a final newline starts no new line. */
export function linesOf(text: string): readonly string[] {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** `number`, a tab, and the line, cut if it is very long. `line` is 1-based. */
export function numbered(lines: readonly string[], line: number): string {
  const text = lines[line - 1] ?? "";
  if (text.length <= lineChars) return `${line}\t${text}`;
  const shown = headOf(text, lineChars);
  return `${line}\t${shown}[... ${text.length - shown.length} characters of this line cut]`;
}
