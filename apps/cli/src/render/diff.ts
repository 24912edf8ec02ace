/** A unified diff in colours, bounded. */
import { harmless } from "./fit.ts";
import type { Palette } from "./palette.ts";

/** Lines of a unified diff without its file headers; what is beyond `limit` lines is counted. */
export function diffLines(diff: string, paint: Palette, limit: number): readonly string[] {
  const body = harmless(diff)
    .split("\n")
    .filter((line) => line !== "" && !/^(---|\+\+\+|diff |index |\\)/.test(line));
  const shown = body.slice(0, limit).map((line) => paintLine(line, paint));
  const rest = body.length - shown.length;
  return rest > 0 ? [...shown, paint.dim(`… ${rest} more lines`)] : shown;
}

function paintLine(line: string, paint: Palette): string {
  if (line.startsWith("+")) return paint.green(line);
  if (line.startsWith("-")) return paint.red(line);
  return paint.dim(line);
}

/** Lines added and removed. */
export function diffCounts(diff: string): { readonly added: number; readonly removed: number } {
  const lines = diff.split("\n");
  return {
    added: lines.filter((line) => /^\+(?!\+\+ )/.test(line)).length,
    removed: lines.filter((line) => /^-(?!-- )/.test(line)).length,
  };
}
