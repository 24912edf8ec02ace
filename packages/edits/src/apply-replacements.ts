/** Replaces exact pieces of a text: all of them matched against the same original, or none applied. */
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { type LfText, lfText, withEndings } from "./lf-text.ts";
import { nearCandidate } from "./near-candidate.ts";

/** `old` must occur exactly once, unless `all`. Line endings are LF or the file's own. */
export interface Replacement {
  readonly old: string;
  readonly new: string;
  readonly all?: boolean;
}

export interface Replaced {
  readonly text: string;
  /** 1-based inclusive lines of the new text, one range per replaced place, ascending. */
  readonly ranges: readonly (readonly [number, number])[];
}

interface Place {
  readonly start: number;
  readonly end: number;
  readonly new: string;
  /** Index of the replacement it belongs to. */
  readonly edit: number;
}

const untouched = "Nothing was written.";
const linesNamed = 20;

/**
 * Untouched lines keep their bytes, line endings included. Fails with `no-match` (showing the nearest lines),
 * `ambiguous-match` (with line numbers) or `invalid-arguments` (empty, without effect, overlapping).
 */
export function applyReplacements(text: string, replacements: readonly Replacement[]): Replaced | Failure {
  const lf = lfText(text);
  const places: Place[] = [];
  for (const [edit, replacement] of replacements.entries()) {
    const name = replacements.length > 1 ? `edits[${edit}]` : "The edit";
    const found = placesOf({ replacement, edit, name }, lf);
    if (isFailure(found)) return found;
    places.push(...found);
  }
  places.sort((a, b) => a.start - b.start);
  const overlap = places.findIndex((place, i) => i > 0 && place.start < (places[i - 1]?.end ?? 0));
  if (overlap > 0) return overlapping(lf, places.slice(overlap - 1, overlap + 1));
  const result = rebuilt(lf, places);
  if (result === text) return failure("invalid-arguments", `The edits change nothing. ${untouched}`);
  return { text: result, ranges: rangesOf(lf, places) };
}

interface Named {
  readonly replacement: Replacement;
  readonly edit: number;
  readonly name: string;
}

function placesOf({ replacement, edit, name }: Named, lf: LfText): readonly Place[] | Failure {
  const old = replacement.old.replaceAll("\r\n", "\n");
  const fresh = replacement.new.replaceAll("\r\n", "\n");
  if (old === "") return failure("invalid-arguments", `${name} has an empty \`old\`. ${untouched}`);
  if (old === fresh)
    return failure("invalid-arguments", `${name} has \`old\` equal to \`new\`. ${untouched}`);
  const starts = occurrences(lf.text, old, replacement.all ? old.length : 1);
  if (starts.length === 0) return noMatch(lf, { old, fresh, name });
  if (starts.length > 1 && !replacement.all) return ambiguous(lf, starts, name);
  return starts.map((start) => ({ start, end: start + old.length, new: fresh, edit }));
}

function occurrences(text: string, piece: string, stride: number): readonly number[] {
  const found: number[] = [];
  for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + stride)) found.push(at);
  return found;
}

function noMatch(lf: LfText, edit: { old: string; fresh: string; name: string }): Failure {
  const start = `${edit.name}: \`old\` is not in the file. ${untouched}`;
  const applied = edit.fresh.trim().length >= 8 ? lf.text.indexOf(edit.fresh) : -1;
  const already = applied < 0 ? "" : ` The \`new\` text is already there, at line ${lf.lineAt(applied)}.`;
  const near = nearCandidate(lf.text, edit.old);
  if (!near)
    return failure("no-match", `${start}${already} No lines of the file are like it: read it again.`);
  const how = near.onlyWhitespace ? "differ only in whitespace" : "are nearest";
  return failure(
    "no-match",
    `${start}${already} These current lines ${how} (line number, tab, text):\n${near.text}`,
  );
}

function ambiguous(lf: LfText, starts: readonly number[], name: string): Failure {
  const lines = starts.slice(0, linesNamed).map((start) => lf.lineAt(start));
  const more = starts.length > linesNamed ? ", ..." : "";
  const what = `${name}: \`old\` is at ${starts.length} places, lines ${lines.join(", ")}${more}.`;
  return failure(
    "ambiguous-match",
    `${what} ${untouched} Add neighbouring lines to \`old\`, or set \`all\`.`,
  );
}

function overlapping(lf: LfText, places: readonly Place[]): Failure {
  const names = places.map((place) => `edits[${place.edit}]`).join(" and ");
  const line = lf.lineAt(places[1]?.start ?? 0);
  return failure(
    "invalid-arguments",
    `${names} overlap at line ${line}. ${untouched} Join them into one edit.`,
  );
}

function rebuilt(lf: LfText, places: readonly Place[]): string {
  const pieces: string[] = [];
  let from = 0;
  for (const place of places) {
    pieces.push(lf.original.slice(from, lf.originalAt(place.start)), withEndings(lf, place));
    from = lf.originalAt(place.end);
  }
  return [...pieces, lf.original.slice(from)].join("");
}

function rangesOf(lf: LfText, places: readonly Place[]): readonly (readonly [number, number])[] {
  let shift = 0;
  return places.map((place) => {
    const line = lf.lineAt(place.start);
    const start = line + shift;
    const added = newlines(place.new);
    shift += added - (lf.lineAt(place.end) - line);
    return [start, Math.max(start, start + added - (place.new.endsWith("\n") ? 1 : 0))] as const;
  });
}

function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
