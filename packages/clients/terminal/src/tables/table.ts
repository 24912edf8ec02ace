/** Rows in aligned columns. */
import { paintedWidth } from "../text/columns.ts";

/** Pads every cell but the last of a row to its column's width; two spaces between columns, a row on one line. */
export function table(lines: readonly (readonly string[])[]): string {
  const rows = lines.map((row) => row.map((cell) => cell.replace(/\s*[\r\n]\s*/g, " ")));
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(0, ...rows.map((row) => paintedWidth(row[column] ?? ""))),
  );
  const line = (row: readonly string[]): string =>
    row.map((cell, i) => (i === row.length - 1 ? cell : pad(cell, widths[i] ?? 0))).join("  ");
  return rows.map((row) => `${line(row).trimEnd()}\n`).join("");
}

function pad(cell: string, width: number): string {
  return cell + " ".repeat(Math.max(0, width - paintedWidth(cell)));
}
