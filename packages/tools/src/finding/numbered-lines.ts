/** Lines of a text with their numbers, as the model sees them. */

/** Characters shown of one line. */
const lineChars = 2_000;

/** Lines without their endings and without a byte order mark; a final newline opens no line. */
export function linesOf(text: string): readonly string[] {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** `number`, a tab, and the line, cut when it is very long. `line` is 1-based. */
export function numbered(lines: readonly string[], line: number): string {
  const text = lines[line - 1] ?? "";
  if (text.length <= lineChars) return `${line}\t${text}`;
  return `${line}\t${text.slice(0, lineChars)}[... ${text.length - lineChars} characters of this line cut]`;
}
