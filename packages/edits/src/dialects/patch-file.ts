/** What a patch says of one file, whichever format it came in. */
import type { Hunk } from "../hunk.ts";

export type PatchFile =
  | { readonly type: "update"; readonly path: string; readonly to?: string; readonly hunks: readonly Hunk[] }
  | { readonly type: "add"; readonly path: string; readonly text: string }
  | { readonly type: "delete"; readonly path: string };

/** Paths as models write them: `a/` and `b/` of git, `./`, quotes, a date behind a tab. */
export function patchPath(written: string): string {
  const path = written
    .replace(/\t.*$/, "")
    .trim()
    .replace(/^(["'`])(.*)\1$/, "$2");
  return path.replace(/^\.\//, "");
}

/** The lines of a patch, LF, without the prose, fence or shell command around it; `isStart` knows its first line. */
export function patchLines(patch: string, isStart: (line: string) => boolean): readonly string[] {
  const lines = patch
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map((line) => line.replace(/\r$/, ""));
  const last = lines.at(-1) === "" ? lines.length - 2 : lines.length - 1;
  const start = Math.max(0, lines.findIndex(isStart));
  const end = endOf(lines, start, last + 1);
  return lines.slice(start, end).map((line, i) => (i === 0 && isStart(line) ? line.trim() : line));
}

/** Where a fence or a here-document that was opened above the patch closes. */
function endOf(lines: readonly string[], start: number, end: number): number {
  const above = lines.slice(0, start).filter((line) => line.trim() !== "");
  const opener = above.at(-1) ?? "";
  const closer = /^\s*(`{3,}|~{3,})/.exec(opener)?.[1] ?? /<<-?\s*(["']?)(\w+)\1\s*\)?\s*$/.exec(opener)?.[2];
  if (closer === undefined) return end;
  const closed = lines.findLastIndex((line) => line.trim().replace(/["')]+$/, "") === closer);
  return closed > start ? closed : end;
}
