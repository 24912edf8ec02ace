/** Turns a candidate into an exact edit: whole lines whose text occurs once in the file. */

import { applied, type Candidate } from "./candidates.ts";
import type { Repair } from "./repair-types.ts";

/** The smallest run of whole lines around the change that is unique in the file. */
export function toRepair(text: string, candidate: Candidate): Repair {
  let start = lineStart(text, candidate.start);
  let end = lineEnd(text, candidate.end);
  for (let wider = 0; !isUnique(text, text.slice(start, end)) && (start > 0 || end < text.length); wider++) {
    if (wider % 2 === 0 && start > 0) start = lineStart(text, start - 1);
    else end = lineEnd(text, Math.min(text.length, end + 1));
  }
  const changed = applied(text, candidate);
  return {
    path: candidate.path,
    line: candidate.line,
    old: text.slice(start, end),
    new: changed.slice(start, end + changed.length - text.length),
    description: candidate.note,
  };
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

function lineEnd(text: string, offset: number): number {
  const found = text.indexOf("\n", offset);
  return found < 0 ? text.length : found;
}

function isUnique(text: string, part: string): boolean {
  return part.trim() !== "" && text.indexOf(part) === text.lastIndexOf(part);
}
