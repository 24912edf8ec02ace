/** Carries an edit from the version the model was shown to the one there is now, or says what changed. */
import { type Failure, isFailure } from "@lathe/protocol";
import { diffLines } from "./document/diff-lines.ts";
import type { Document } from "./document/document.ts";
import { noMatch } from "./explain/no-match.ts";
import { refusal } from "./failures.ts";
import { type Located, locate, type Named } from "./locate.ts";
import type { Place } from "./place.ts";

/** Lines of the current text that a stale edit is answered with. */
const shownLines = 30;
/** Neighbouring lines that must be there, too, and unchanged. */
const neighbours = 1;

/** Both versions, and for each line of the one shown where it is now. */
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
 * Places in the current text. An edit that matches what was shown is carried along with its lines, if these and their
 * neighbours stand together as they did (`stale-version` if not); one that does not may know a newer text.
 */
export function locateAcross(versions: Versions, named: Named): Located | Failure {
  const { shown, current } = versions;
  const there = locate(shown, named);
  if (there && isFailure(there)) return there;
  if (!there) return locateNewer(current, named);
  const places = there.places.map((place) => carried(versions, place));
  const moved = places.filter((place) => place !== undefined);
  const lost = there.places[places.indexOf(undefined)];
  if (lost) return stale(versions, named, lost);
  if (named.hunk.all && !isEverywhere(current, named, moved)) return stale(versions, named, there.places[0]);
  return { ...there, places: moved };
}

/** Commands may have shown the model what no read did, but then letter by letter. */
function locateNewer(current: Document, named: Named): Located | Failure {
  const found = locate(current, named);
  if (found && isFailure(found)) return found;
  const isStrict = found && ["exact", "trailing-whitespace", "unicode"].includes(found.tier);
  return found && isStrict ? found : noMatch(current, named.hunk, named.name);
}

function carried({ shown, current, nowAt }: Versions, place: Place): Place | undefined {
  const first = Math.max(0, place.from - neighbours);
  const end = Math.min(shown.lines.length, place.to + neighbours);
  const from = nowAt[first];
  if (end === first) return shown.lines.length === 0 && current.lines.length === 0 ? place : undefined;
  if (from === undefined) return undefined;
  for (let line = first; line < end; line++) if (nowAt[line] !== from + line - first) return undefined;
  const shift = current.startOf(from) - shown.startOf(first);
  if (place.end + shift > current.text.length) return undefined;
  const down = from - first;
  return {
    ...place,
    start: place.start + shift,
    end: place.end + shift,
    from: place.from + down,
    to: place.to + down,
  };
}

function isEverywhere(current: Document, named: Named, moved: readonly Place[]): boolean {
  const now = locate(current, named);
  if (!now || isFailure(now)) return false;
  return (
    now.places.length === moved.length && now.places.every((place, i) => place.start === moved[i]?.start)
  );
}

function stale({ shown, current, nowAt }: Versions, { name }: Named, place: Place | undefined): Failure {
  const from = place?.from ?? 0;
  const to = place?.to ?? shown.lines.length;
  const first =
    (nowAt.slice(0, Math.max(0, from - neighbours)).findLast((line) => line !== undefined) ?? -1) + 1;
  const last = nowAt.slice(to + neighbours).find((line) => line !== undefined) ?? current.lines.length;
  const lines = current.lines
    .slice(first, Math.min(last, first + shownLines))
    .map((line, i) => `${first + i + 1}\t${line}`);
  const now = lines.length > 0 ? `They now read:\n${lines.join("\n")}` : "They are gone.";
  return refusal("stale-version", name, {
    what: `is for lines ${from + 1}-${to} of a version that somebody else has changed there since you saw it`,
    next: now,
  });
}
