/** Views: the places of followed lines in texts. */
import type { Text } from "./text.ts";
import type { TrackedLine } from "./tracked-line.ts";

/** One place of a line in a text; several lines where it was wrapped. */
export interface Place {
  readonly line: TrackedLine;
  readonly at: readonly number[];
  /** Whether it is a copy, which counts once the original is removed. */
  readonly isCopy: boolean;
}

/** Places in one text at one path. A path may have several views, of older texts, too. */
export interface View {
  readonly path: string;
  readonly text: Text;
  readonly places: Place[];
}

export interface Views {
  readonly byPath: Map<string, View[]>;
  readonly copies: Map<TrackedLine, number>;
}

export function createViews(): Views {
  return { byPath: new Map(), copies: new Map() };
}

export function putPlace(views: Views, at: Pick<View, "path" | "text">, place: Place): void {
  const list = views.byPath.get(at.path) ?? [];
  views.byPath.set(at.path, list);
  const view = list.find(({ text }) => text === at.text);
  if (view) view.places.push(place);
  else list.push({ path: at.path, text: at.text, places: [place] });
  if (place.isCopy) views.copies.set(place.line, (views.copies.get(place.line) ?? 0) + 1);
}

/** Removes and returns the views at a path. */
export function takeViews(views: Views, path: string): readonly View[] {
  const list = views.byPath.get(path) ?? [];
  views.byPath.delete(path);
  for (const { places } of list) {
    for (const { line, isCopy } of places) if (isCopy) dropCopy(views, line);
  }
  return list;
}

function dropCopy({ copies }: Views, line: TrackedLine): void {
  const left = (copies.get(line) ?? 1) - 1;
  if (left > 0) copies.set(line, left);
  else copies.delete(line);
}

/** Makes a copy of the line its place; false where there is no copy. */
export function promoteCopy(views: Views, line: TrackedLine): boolean {
  if (!views.copies.has(line)) return false;
  for (const list of views.byPath.values()) {
    for (const { places } of list) {
      const i = places.findIndex((place) => place.isCopy && place.line === line);
      const place = places[i];
      if (!place) continue;
      places[i] = { ...place, isCopy: false };
      dropCopy(views, line);
      return true;
    }
  }
  return false;
}
