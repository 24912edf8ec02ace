/**
 * Splits a file into lines and joins it again; stores byte order mark, line ending and final newline
 * separately.
 */

export interface FileStyle {
  readonly bom: boolean;
  readonly eol: "\n" | "\r\n";
  readonly final: boolean;
}

export interface LinedText {
  readonly lines: readonly string[];
  readonly style: FileStyle;
}

/** Undefined if the endings are mixed: such a file has no single style. */
export function readLines(text: string): LinedText | undefined {
  const bom = text.startsWith("\uFEFF");
  const body = bom ? text.slice(1) : text;
  const eol = body.includes("\r\n") ? "\r\n" : "\n";
  const lines = body.split(eol);
  if (lines.some((line) => /[\r\n]/.test(line))) return undefined;
  const final = lines.at(-1) === "";
  if (final) lines.pop();
  return { lines, style: { bom, eol, final } };
}

/** `endings` overrides the ending of single lines. */
export function writeLines(
  lines: readonly string[],
  style: FileStyle,
  finishedCommands: ReadonlyMap<number, string> = new Map(),
): string {
  const last = lines.length - 1;
  const parts = lines.map((line, index) => {
    if (index === last && !style.final) return line;
    return line + (finishedCommands.get(index) ?? style.eol);
  });
  return (style.bom ? "\uFEFF" : "") + parts.join("");
}

export function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

export function isBlank(line: string): boolean {
  return line.trim() === "";
}
