/** One file's part of a patch, in either format. */
import type { Hunk } from "../hunk.ts";

export type PatchFile =
  | { readonly type: "update"; readonly path: string; readonly to?: string; readonly hunks: readonly Hunk[] }
  | { readonly type: "add"; readonly path: string; readonly text: string }
  /** `hunks`: the content of the file according to the patch. */
  | { readonly type: "delete"; readonly path: string; readonly hunks?: readonly Hunk[] };

/** Cleans paths as models write them: git's `a/` and `b/`, `./`, quotes, a date after a tab. */
export function patchPath(written: string): string {
  const path = written
    .replace(/\t.*$/, "")
    .trim()
    .replace(/^(["'`])(.*)\1$/, "$2");
  return path.replace(/^\.\//, "");
}

/** Whether a line begins a patch, judged with the line after it. */
type IsStart = (line: string, next: string | undefined) => boolean;

/** The lines of a patch, LF, without the prose, fence or shell command around it. */
export function patchLines(patch: string, isStart: IsStart): readonly string[] {
  const lines = patch
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map((line) => line.replace(/\r$/, ""));
  const last = lines.at(-1) === "" ? lines.length - 2 : lines.length - 1;
  const found = lines.findIndex((line, i) => isStart(line, lines[i + 1]));
  // Marked lines before the first header belong to a patch without one.
  const start =
    found < 0 || lines.slice(0, found).some((line) => /^(?:\+|-(?![- ]))/.test(line))
      ? firstLine(lines)
      : found;
  const end = endOf(lines, start, last + 1);
  return lines
    .slice(start, end)
    .map((line, i) => (i === 0 && isStart(line, lines[start + 1]) ? line.trim() : line));
}

/** The line after an opening fence or a command, if only these precede the patch. */
function firstLine(lines: readonly string[]): number {
  const first = Math.max(
    0,
    lines.findIndex((line) => line.trim() !== ""),
  );
  return closerOf(lines[first] ?? "") === undefined ? first : first + 1;
}

/** The text that closes a fence or a here-document opened on this line. */
function closerOf(line: string): string | undefined {
  return /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? /<<-?\s*(["']?)(\w+)\1\s*\)?\s*$/.exec(line)?.[2];
}

/** The end of a fence or a here-document opened above the patch; lines of the patch have a marker. */
function endOf(lines: readonly string[], start: number, end: number): number {
  const closer = closerOf(lines.slice(0, start).findLast((line) => line.trim() !== "") ?? "");
  if (closer === undefined) return end;
  const closed = lines.findLastIndex((line) => line.trimEnd().replace(/["')]+$/, "") === closer);
  const isPatch = lines.slice(closed + 1).some((line) => /^(?:@@|\*{3} |[+]|-(?! ))/.test(line));
  return closed > start && !isPatch ? closed : end;
}
