/** Follow: applies one transition to the followed lines: they stay, move, are copied, vanish or return. */
import { type Aligner, type Alignment, createAligner } from "./align.ts";
import { type AddedIndex, type AddedLines, findMoved, indexAdded, type MovedLine } from "./moved-runs.ts";
import { type Text, weightOf } from "./text.ts";
import { isThere, layOut, loseLine, missLine, seeLine, type TrackedLine } from "./tracked-line.ts";
import type { FileTransition, Transition } from "./transition.ts";
import { createViews, type Place, promoteCopy, putPlace, takeViews, type View, type Views } from "./views.ts";

/** A run of lines that vanished; it may return. */
interface Ghost {
  readonly path: string;
  readonly plain: readonly string[];
  readonly lines: readonly (readonly TrackedLine[])[];
}

export interface Following {
  readonly views: Views;
  readonly align: Aligner;
  ghosts: readonly Ghost[];
}

export function createFollowing(): Following {
  return { views: createViews(), align: createAligner(), ghosts: [] };
}

/** The state while one transition is applied. */
interface Work {
  readonly following: Following;
  readonly transition: Transition;
  /** Lines of the new texts, by path, that followed lines already have: no other line can have moved there. */
  readonly occupied: Map<string, Set<number>>;
  readonly missing: Search[];
  /** Lines that are new in the files of the transition. */
  added: AddedIndex;
  readonly lost: Ghost[];
}

export function follow(following: Following, transition: Transition): void {
  const { views } = following;
  const nothing = indexAdded([]);
  const work: Work = { following, transition, occupied: new Map(), missing: [], added: nothing, lost: [] };
  if (views.byPath.size === 0 && following.ghosts.length === 0) return;
  renameGhosts(following, transition);
  for (const file of transition.files) {
    for (const view of takeViews(views, file.from ?? file.path)) followView(work, view, file);
    // A renamed file may have views at its new path from before the rename was committed.
    if (file.from !== undefined && views.byPath.has(file.path)) {
      for (const view of takeViews(views, file.path)) followView(work, view, file);
    }
  }
  work.added = indexAdded(transition.files.flatMap((file) => addedIn(work, file)));
  for (const search of work.missing) searchMissing(work, search);
  if (work.added.spots.size > 0) {
    recall(work);
    copy(work);
  }
  following.ghosts = [...following.ghosts.filter((ghost) => !isBack(ghost)), ...work.lost];
}

function renameGhosts(following: Following, { files }: Transition): void {
  const renames = new Map(files.flatMap(({ path, from }) => (from === undefined ? [] : [[from, path]])));
  if (renames.size === 0) return;
  following.ghosts = following.ghosts.map((ghost) => ({
    ...ghost,
    path: renames.get(ghost.path) ?? ghost.path,
  }));
}

function isBack({ lines }: Ghost): boolean {
  return lines.every((all) => all.every(isThere));
}

function addedIn({ following, occupied }: Work, file: FileTransition): readonly AddedLines[] {
  const { path, before, after } = file;
  if (!after || before === after) return [];
  const all = before
    ? following.align(before, after).runs.flatMap(({ after: [from, to] }) => range(from, to))
    : range(0, after.lines.length);
  const lines = all.filter((line) => !occupied.get(path)?.has(line));
  return lines.length > 0 ? [{ path, text: after, lines }] : [];
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

const gone: Alignment = { to: [], laidOut: new Set(), runs: [] };

function followView(work: Work, view: View, file: FileTransition): void {
  const { transition, following } = work;
  if (transition.isCommit) noteCommitted(work, view, file.before);
  const { after } = file;
  const alignment = after ? following.align(view.text, after) : gone;
  const isThere = ({ at }: Place): boolean => at.every((line) => alignment.to[line] !== undefined);
  const missing = view.places.filter((place) => !isThere(place));
  if (isOlder(transition, view.places, missing)) {
    for (const place of view.places) putPlace(following.views, view, place);
    return;
  }
  if (after) for (const place of view.places.filter(isThere)) carry(work, place, { file, after, alignment });
  if (missing.length > 0) work.missing.push({ view, file, alignment, missing });
}

/**
 * A commit that was written before the lines and only rebased later is no evidence about them, unless it contains most of
 * them: then it was amended with them. Lines that were committed before count as removed by it, whenever it was written.
 */
function isOlder(
  { writtenAt, isCommit }: Transition,
  all: readonly Place[],
  missing: readonly Place[],
): boolean {
  if (!isCommit) return false;
  const isNewer = ({ line }: Place): boolean => writtenAt < line.since && !line.isCommitted;
  return 2 * missing.filter(isNewer).length > all.filter(isNewer).length;
}

interface Carried extends Pick<Search, "file" | "alignment"> {
  readonly after: Text;
}

function carry(work: Work, place: Place, { file, after, alignment }: Carried): void {
  const lines = [...new Set(place.at.flatMap((line) => alignment.to[line] ?? []))];
  if (place.at.some((line) => alignment.laidOut.has(line))) layOut(place.line, work.transition);
  stay(work, { ...place, at: lines }, { path: file.path, text: after });
}

function stay(work: Work, place: Place, at: Pick<View, "path" | "text">): void {
  const { following, transition, occupied } = work;
  if (!place.isCopy) seeLine(place.line, transition, transition.isCommit);
  const lines = occupied.get(at.path) ?? new Set();
  for (const line of place.at) lines.add(line);
  occupied.set(at.path, lines);
  putPlace(following.views, at, place);
}

/** Lines in the parent commit existed until this commit, and were committed. */
function noteCommitted({ following }: Work, { text, places }: View, before: Text | undefined): void {
  if (!before || places.every(({ line }) => line.isCommitted)) return;
  const to = text === before ? undefined : following.align(text, before).to;
  for (const { line, at } of places) {
    if (to !== undefined && at.some((one) => to[one] === undefined)) continue;
    line.isCommitted = true;
    line.isSeen = true;
  }
}

interface Search {
  readonly view: View;
  readonly file: FileTransition;
  readonly alignment: Alignment;
  readonly missing: readonly Place[];
}

function searchMissing(work: Work, search: Search): void {
  const { view, file } = search;
  const byLine = new Map<number, Place[]>();
  for (const place of search.missing) {
    // A wrapped line is searched by its first line.
    const [first = 0] = place.at.filter((line) => search.alignment.to[line] === undefined);
    byLine.set(first, [...(byLine.get(first) ?? []), place]);
  }
  const runs = missingRuns(search).filter((run) => run.lines.some((line) => byLine.has(line)));
  const found = fillGaps(search, runs, findRuns(work, search, runs));
  for (const { lines, isPure } of runs) {
    const left = lines.filter((line) => {
      const moved = found.get(line);
      if (moved) move(work, { moved, line, view, places: byLine.get(line) ?? [] });
      return !moved && byLine.has(line);
    });
    vanish(work, { view, file, byLine, lines: left, isPure });
  }
}

type Found = Map<number, MovedLine>;

/** Searches the same file first, then others. */
function findRuns(work: Work, search: Search, runs: readonly MissingRun[]): Found {
  const { view, file } = search;
  const own = ownAdded(work, search);
  const found: Found = new Map();
  for (const { lines } of runs) {
    const plain = lines.map((line) => view.text.plain[line] ?? "");
    const near = findMoved(plain, own, file.path);
    const rest = plain.map((one, i) => (near[i] ? "" : one));
    const far = findMoved(rest, work.added, file.path);
    for (const [i, line] of lines.entries()) {
      const moved = near[i] ?? far[i];
      if (moved) found.set(line, moved);
    }
  }
  return found;
}

/** A line that is too short to be searched moves along with its neighbour. */
function fillGaps({ view }: Search, runs: readonly MissingRun[], found: Found): Found {
  const { plain } = view.text;
  const beside = (line: number, step: 1 | -1): MovedLine | undefined => {
    const near = nextLine(plain, line, step);
    const moved = near === undefined ? undefined : found.get(near);
    const at = moved && nextLine(moved.text.plain, moved.line, step === 1 ? -1 : 1);
    return moved && at !== undefined && moved.text.plain[at] === plain[line]
      ? { ...moved, line: at }
      : undefined;
  };
  const lines = runs.flatMap((run) => run.lines);
  for (const [order, step] of [
    [lines, -1],
    [lines.toReversed(), 1],
  ] as const) {
    for (const line of order) {
      const moved = found.has(line) || plain[line] === "" ? undefined : beside(line, step);
      if (moved) found.set(line, moved);
    }
  }
  return found;
}

/** The next line in a direction that is not blank. */
function nextLine(plain: readonly string[], line: number, step: 1 | -1): number | undefined {
  let at = line + step;
  while (plain[at] === "") at += step;
  return plain[at] === undefined ? undefined : at;
}

interface Moving {
  readonly moved: MovedLine;
  readonly line: number;
  readonly view: View;
  readonly places: readonly Place[];
}

function move(work: Work, { moved, line, view, places }: Moving): void {
  const { path, text } = moved;
  const isLaidOut = view.text.lines[line] !== text.lines[moved.line];
  for (const place of places) {
    if (isLaidOut) layOut(place.line, work.transition);
    stay(work, { ...place, at: [moved.line] }, { path, text });
  }
}

interface MissingRun {
  readonly lines: readonly number[];
  /** Whether nothing replaced it. */
  readonly isPure: boolean;
}

function missingRuns({ view, file, alignment }: Search): readonly MissingRun[] {
  if (!file.after) return [{ lines: range(0, view.text.lines.length), isPure: true }];
  return alignment.runs.flatMap(({ before: [from, to], after }) => {
    const lines = range(from, to).filter((line) => alignment.to[line] === undefined);
    return lines.length > 0 ? [{ lines, isPure: after[0] === after[1] }] : [];
  });
}

function ownAdded({ occupied }: Work, { file, alignment }: Search): AddedIndex {
  if (!file.after) return indexAdded([]);
  const all = alignment.runs.flatMap(({ after: [from, to] }) => range(from, to));
  const lines = all.filter((line) => !occupied.get(file.path)?.has(line));
  return indexAdded([{ path: file.path, text: file.after, lines }]);
}

interface Vanishing extends Pick<Search, "view" | "file"> {
  readonly byLine: ReadonlyMap<number, readonly Place[]>;
  readonly lines: readonly number[];
  readonly isPure: boolean;
}

function vanish(work: Work, vanishing: Vanishing): void {
  const { view, byLine, lines } = vanishing;
  const plain: string[] = [];
  const ghosts: (readonly TrackedLine[])[] = [];
  for (const number of lines) {
    const places = (byLine.get(number) ?? []).filter(({ isCopy }) => !isCopy);
    const lost = places.filter((place) => isLost(work, vanishing, place)).map(({ line }) => line);
    if (lost.length === 0) continue;
    plain.push(view.text.plain[number] ?? "");
    ghosts.push(lost);
  }
  if (ghosts.length > 0) work.lost.push({ path: view.path, plain, lines: ghosts });
}

/** A missing line is not lost while it may still be committed, nor while a copy of it remains. */
function isLost(work: Work, { view, file, isPure }: Vanishing, place: Place): boolean {
  const { following, transition } = work;
  const { by, isCommit } = transition;
  const { line } = place;
  if (isCommit && !line.isCommitted) {
    missLine(line, transition);
    putPlace(following.views, { path: file.after ? file.path : view.path, text: view.text }, place);
    return false;
  }
  if (isPure && promoteCopy(following.views, line)) return false;
  loseLine(line, transition, by);
  return true;
}

/** Vanished lines that return in the same file. In another file the same text was probably written again. */
function recall(work: Work): void {
  const { following, added } = work;
  const places = Map.groupBy(following.ghosts, ({ path }) => path);
  for (const [path, ghosts] of places) {
    const own = added.all.filter((lines) => lines.path === path);
    if (own.length === 0) continue;
    const index = { ...indexAdded(own), taken: added.taken };
    for (const ghost of ghosts) {
      for (const [i, moved] of findMoved(ghost.plain, index, path).entries()) {
        const gone = ghost.lines[i]?.filter((line) => !isThere(line)) ?? [];
        if (moved) comeBack(work, gone, moved);
      }
    }
  }
}

function comeBack({ following, transition }: Work, lines: readonly TrackedLine[], moved: MovedLine): void {
  const { path, text } = moved;
  for (const line of lines) {
    seeLine(line, transition, transition.isCommit);
    putPlace(following.views, { path, text }, { line, at: [moved.line], isCopy: false });
  }
}

/** Letters and digits that a run needs to count as a copy. */
const copyWeight = 40;
const longLine = 24;

/** Lines that stayed, and that also occur among the new lines. */
function copy(work: Work): void {
  const { following, added } = work;
  const found: { readonly at: Pick<View, "path" | "text">; readonly place: Place }[] = [];
  for (const { path, text, places } of [...following.views.byPath.values()].flat()) {
    const originals = places.filter(
      ({ isCopy, at }) => !isCopy && added.spots.has(text.plain[at[0] ?? -1] ?? ""),
    );
    const plain = originals.map(({ at }) => text.plain[at[0] ?? -1] ?? "");
    // Short lines occur everywhere, so only long ones are searched further.
    if (!plain.some((one) => one.length >= longLine)) continue;
    if (plain.reduce((sum, one) => sum + weightOf(one), 0) < copyWeight) continue;
    for (const [i, moved] of findMoved(plain, added, path).entries()) {
      const place = originals[i];
      if (!moved || !place) continue;
      const { path: to, text: into } = moved;
      found.push({
        at: { path: to, text: into },
        place: { line: place.line, at: [moved.line], isCopy: true },
      });
    }
  }
  for (const { at, place } of found) putPlace(following.views, at, place);
}
