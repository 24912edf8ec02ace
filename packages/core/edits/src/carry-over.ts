/** Carries an edit from the version the model saw to the current one, or reports what changed. */
import { type Failure, isFailure } from "@lathe/protocol";
import { diffLines } from "./document/diff-lines.ts";
import type { Document } from "./document/document.ts";
import { noMatch } from "./explain/no-match.ts";
import { refusal } from "./failures.ts";
import type { Hunk } from "./hunk.ts";
import { type Located, locate, type NamedHunk } from "./locate.ts";
import type { Place } from "./place.ts";

/** Lines of the current text in the answer to a stale edit. */
const shownLines = 30;
const lineChars = 200;
/** Neighboring lines that must be present and unchanged, too. */
const neighbours = 1;

/** Both versions, and the current position of each line of the shown one. */
export interface Versions {
  readonly shown: Document;
  readonly current: Document;
  readonly nowAt: readonly (number | undefined)[];
}

export function compareVersions(shown: Document, current: Document): Versions {
  const nowAt: (number | undefined)[] = [];
  let at = 0;
  for (const { before, after } of diffLines(shown.lines, current.lines)) {
    while (nowAt.length < before[0]) nowAt.push(at++);
    while (nowAt.length < before[1]) nowAt.push(undefined);
    at = after[1];
  }
  while (nowAt.length < shown.lines.length) nowAt.push(at++);
  return { shown, current, nowAt };
}

/**
 * Places in the current text. An edit that matches the shown version moves with its lines, if these and their
 * neighbors are still together (`stale-version` if not). One that does not match it may match a newer text.
 */
export function locateAcross(versions: Versions, named: NamedHunk): Located | Failure {
  const { shown, current } = versions;
  const there = locate(shown, named);
  if (there && isFailure(there)) return there;
  if (!there) return locateNewer(current, named);
  const places = there.places.map((place) => carried(versions, place, named.hunk));
  const moved = places.filter((place) => place !== undefined);
  const lost = there.places[places.indexOf(undefined)];
  if (lost) return stale(versions, named, lost);
  if (!named.hunk.all && !there.chosen) return { ...there, places: moved };
  return everywhere(versions, named, { there, moved });
}

/** All places, or the one a hint chose, must also be found in the current text, and be the same. */
function everywhere(
  versions: Versions,
  named: NamedHunk,
  { there, moved }: { readonly there: Located; readonly moved: readonly Place[] },
): Located | Failure {
  const now = locate(versions.current, named);
  if (!now || isFailure(now)) return stale(versions, named, there.places[0]);
  const isSame =
    now.places.length === moved.length && now.places.every((place, i) => place.start === moved[i]?.start);
  // If a hint was needed then, it must be needed now: otherwise the named place may be the one that is gone.
  if (isSame && there.chosen === now.chosen) return { ...there, places: moved };
  // A line number refers to the shown version; a header is still above its lines.
  const isHeaded = there.chosen && now.chosen && named.hunk.hints?.line === undefined;
  return isHeaded ? now : stale(versions, named, there.places[0]);
}

/** Commands may have shown the model a newer text, but only an exact match proves that. */
function locateNewer(current: Document, named: NamedHunk): Located | Failure {
  const found = locate(current, named);
  if (found && isFailure(found)) return found;
  const isStrict = found && ["exact", "trailing-whitespace", "unicode"].includes(found.tier);
  return found && isStrict ? found : noMatch(current, named.hunk, named.name);
}

function carried({ shown, current, nowAt }: Versions, place: Place, hunk: Hunk): Place | undefined {
  const first = Math.max(0, place.from - neighbours);
  const end = Math.min(shown.lines.length, place.to + neighbours);
  const from = nowAt[first];
  if (end === first) return shown.lines.length === 0 && current.lines.length === 0 ? place : undefined;
  if (from === undefined) return undefined;
  for (let line = first; line < end; line++) if (nowAt[line] !== from + line - first) return undefined;
  const shift = current.startOf(from) - shown.startOf(first);
  if (place.end + shift > current.text.length) return undefined;
  const down = from - first;
  const moved = { ...place, start: place.start + shift, end: place.end + shift };
  const fresh = beforeMore(moved, { shown, current }, hunk);
  return fresh === undefined
    ? undefined
    : { ...moved, new: fresh, from: place.from + down, to: place.to + down };
}

/** The end of the file is a neighbor, too: if lines follow now, the last one needs its newline. */
function beforeMore(
  place: Place,
  { shown, current }: Pick<Versions, "shown" | "current">,
  hunk: Hunk,
): string | undefined {
  const isAtEnd = place.to === shown.lines.length || place.end === shown.text.length;
  const isLast = place.end >= current.text.length;
  if (hunk.finalNewline && !isLast) return undefined;
  const isCut = shown.text.endsWith("\n") && current.text[place.end - 1] === "\n";
  return isAtEnd && !isLast && isCut && place.new !== "" && !place.new.endsWith("\n")
    ? `${place.new}\n`
    : place.new;
}

function stale({ shown, current, nowAt }: Versions, { name }: NamedHunk, place: Place | undefined): Failure {
  const from = place?.from ?? 0;
  const to = place?.to ?? shown.lines.length;
  const above = nowAt.slice(0, Math.max(0, from - neighbours)).findLastIndex((line) => line !== undefined);
  const start = above < 0 ? 0 : (nowAt[above] ?? 0) + 1;
  const end = nowAt.slice(to + neighbours).find((line) => line !== undefined) ?? current.lines.length;
  // After many changes: the lines at the same distance from the last unchanged one.
  const expected = start + (from - above - 1);
  const first =
    end - start <= shownLines
      ? start
      : Math.max(start, Math.min(expected - shownLines / 2, end - shownLines));
  const lines = current.lines
    .slice(first, Math.min(end, first + shownLines))
    .map((line, i) => `${first + i + 1}\t${line.slice(0, lineChars)}`);
  const now = lines.length > 0 ? `They now read:\n${lines.join("\n")}` : "They are gone.";
  return refusal("stale-version", name, {
    what: `is for lines ${from + 1}-${to} of the version you saw, and these have changed since (by a command, a formatter or a person)`,
    next: now,
  });
}
