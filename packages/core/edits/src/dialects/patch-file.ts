/** What a patch says of one file, whichever format it came in. */
import type { Hunk } from "../hunk.ts";

export type PatchFile =
  | { readonly type: "update"; readonly path: string; readonly to?: string; readonly hunks: readonly Hunk[] }
  | { readonly type: "add"; readonly path: string; readonly text: string }
  /** `hunks`: what the patch says the file holds. */
  | { readonly type: "delete"; readonly path: string; readonly hunks?: readonly Hunk[] };

/** Paths as models write them: `a/` and `b/` of git, `./`, quotes, a date behind a tab. */
export function patchPath(written: string): string {
  const path = written
    .replace(/\t.*$/, "")
    .trim()
    .replace(/^(["'`])(.*)\1$/, "$2");
  return path.replace(/^\.\//, "");
}

/** Whether a line begins a patch, by itself and the line after it. */
type IsStart = (line: string, next: string | undefined) => boolean;

/** The lines of a patch, LF, without the prose, fence or shell command around it. */
export function patchLines(patch: string, isStart: IsStart): readonly string[] {
  const lines = patch
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map((line) => line.replace(/\r$/, ""));
  const last = lines.at(-1) === "" ? lines.length - 2 : lines.length - 1;
  const found = lines.findIndex((line, i) => isStart(line, lines[i + 1]));
  // Marked lines before the first header are a part of the patch that has none.
  const start =
    found < 0 || lines.slice(0, found).some((line) => /^(?:\+|-(?![- ]))/.test(line))
      ? firstLine(lines)
      : found;
  const end = endOf(lines, start, last + 1);
  return lines
    .slice(start, end)
    .map((line, i) => (i === 0 && isStart(line, lines[start + 1]) ? line.trim() : line));
}

/** Behind an opening fence or a command, where these stand alone above. */
function firstLine(lines: readonly string[]): number {
  const first = Math.max(
    0,
    lines.findIndex((line) => line.trim() !== ""),
  );
  return closerOf(lines[first] ?? "") === undefined ? first : first + 1;
}

/** What closes a fence or a here-document that this line opens. */
function closerOf(line: string): string | undefined {
  return /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? /<<-?\s*(["']?)(\w+)\1\s*\)?\s*$/.exec(line)?.[2];
}

/** Where a fence or a here-document that was opened above the patch closes; a line of the patch has a marker. */
function endOf(lines: readonly string[], start: number, end: number): number {
  const closer = closerOf(lines.slice(0, start).findLast((line) => line.trim() !== "") ?? "");
  if (closer === undefined) return end;
  const closed = lines.findLastIndex((line) => line.trimEnd().replace(/["')]+$/, "") === closer);
  const isPatch = lines.slice(closed + 1).some((line) => /^(?:@@|\*{3} |[+]|-(?! ))/.test(line));
  return closed > start && !isPatch ? closed : end;
}
