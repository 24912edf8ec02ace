/** `str_replace`: replaces pieces of text. */
import type { Hunk } from "../hunk.ts";

/** `old` must occur exactly once, unless `all`. Line endings are LF or the file's own. */
export interface Replacement {
  readonly old: string;
  readonly new: string;
  readonly all?: boolean;
}

export function replacementHunk({ old, new: fresh, all = false }: Replacement): Hunk {
  return { old: linesOf(old), new: linesOf(fresh), unit: "text", all };
}

function linesOf(text: string): readonly string[] {
  return text
    .replace(/^\uFEFF/, "")
    .replaceAll("\r\n", "\n")
    .split("\n");
}
