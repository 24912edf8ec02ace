/** Turns a candidate into an exact edit of whole lines that can be made, and taken back, by its text alone. */

import { applied, type Candidate } from "./candidates.ts";
import type { Repair } from "./repair-types.ts";

/** The smallest run of whole lines around the change that is unique in the file, before it and after it. */
export function toRepair(text: string, candidate: Candidate): Repair {
  const changed = applied(text, candidate);
  const growth = changed.length - text.length;
  let start = lineStart(text, candidate.start);
  let end = lineEnd(text, candidate.end);
  const isExact = (): boolean =>
    isUnique(text, text.slice(start, end)) && isUnique(changed, changed.slice(start, end + growth));
  for (let wider = 0; !isExact() && (start > 0 || end < text.length); wider++) {
    if (wider % 2 === 0 && start > 0) start = lineStart(text, start - 1);
    else end = lineEnd(text, Math.min(text.length, end + 1));
  }
  return {
    path: candidate.path,
    line: candidate.line,
    old: text.slice(start, end),
    new: changed.slice(start, end + growth),
    description: candidate.note.replace(/\s+/g, " "),
  };
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

function lineEnd(text: string, offset: number): number {
  const found = text.indexOf("\n", offset);
  if (found < 0) return text.length;
  // A line's end is not its text, also where it has two characters.
  return found > offset && text[found - 1] === "\r" ? found - 1 : found;
}

function isUnique(text: string, part: string): boolean {
  return part.trim() !== "" && text.indexOf(part) === text.lastIndexOf(part);
}
