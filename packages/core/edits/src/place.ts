/** A place of the file, and the text that replaces it. */
import type { Document } from "./document/document.ts";
import { splitLines } from "./unified-diff.ts";

export interface Place {
  /** Offsets in the document's text. */
  readonly start: number;
  readonly end: number;
  /** With LF. */
  readonly new: string;
  /** Lines that `old` names, 0-based, end exclusive: no other hunk may change them. */
  readonly from: number;
  readonly to: number;
}

/** Whole lines replaced by others; does not add a missing final newline. */
export function linesPlace(
  { lines, startOf, text }: Document,
  { from, to }: { readonly from: number; readonly to: number },
  fresh: readonly string[],
): Place {
  const start = startOf(from);
  const end = startOf(to);
  if (to < lines.length || text === "" || text.endsWith("\n")) {
    return { from, to, start, end, new: fresh.map((line) => `${line}\n`).join("") };
  }
  // Removing the last line also removes the newline before it, and text added after it brings one.
  if (fresh.length === 0) return { from, to, start: Math.max(0, start - 1), end, new: "" };
  return { from, to, start, end, new: (start === end ? "\n" : "") + fresh.join("\n") };
}

/** Removes unchanged lines at both ends, so that only changes are written. */
export function coreOf(document: Document, place: Place): Place {
  const old = splitLines(document.text.slice(place.start, place.end));
  const fresh = splitLines(place.new);
  const most = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < most && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  const before = old.slice(0, head).join("").length;
  const after = old.slice(old.length - tail).join("").length;
  return {
    ...place,
    start: place.start + before,
    end: place.end - after,
    new: fresh.slice(head, fresh.length - tail).join(""),
  };
}
