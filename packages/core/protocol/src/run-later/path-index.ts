/** Path index: finds the entry of a list of paths that a file belongs to, ignoring case. */
import { foldCase } from "./fold-case.ts";

export interface PathEntry {
  /** As in `RunLaterEntry`. */
  readonly paths: readonly string[];
}

export interface PathMatch<T> {
  readonly entry: T;
  /** The entry is a folder, with everything below it. */
  readonly isFolder: boolean;
}

/** The rest of a listed path below some folder. */
export interface PathBelow {
  readonly path: string;
  readonly isFolder: boolean;
}

export interface PathIndex<T> {
  /** Finds a file or folder by its name and the path of its folder. */
  findName(folder: string, name: string): PathMatch<T> | undefined;
  /** Finds a relative or absolute path that is listed, or is below a listed folder. */
  find(path: string): PathMatch<T> | undefined;
  /** Listed paths below a folder of that name, without those that contain a `*`. */
  below(name: string): readonly PathBelow[];
}

interface Pattern<T> extends PathMatch<T> {
  /** The names of the parent folders, innermost first. */
  readonly above: readonly string[];
  /** The beginning and end of the last name. */
  readonly start: string;
  readonly end: string;
}

export function indexPaths<T extends PathEntry>(entries: readonly T[]): PathIndex<T> {
  const byName = new Map<string, Pattern<T>[]>();
  const loose: Pattern<T>[] = [];
  const outer = new Map<string, PathBelow[]>();
  const all = entries.flatMap((entry) => entry.paths.map((path) => ({ entry, path })));
  for (const { entry, path } of all) {
    const isFolder = path.endsWith("/");
    const names = path.split("/").slice(0, isFolder ? -1 : undefined);
    const [last = "", ...above] = names.toReversed();
    const [start = "", end] = last.split("*");
    const pattern = { entry, isFolder, above, start, end: end ?? "" };
    if (end === undefined) addTo(byName, last, pattern);
    else loose.push(pattern);
    const [first = "", ...rest] = names;
    if (end === undefined && rest.length > 0) addTo(outer, first, { path: rest.join("/"), isFolder });
  }
  const findName = (folder: string, name: string): PathMatch<T> | undefined => {
    const folded = foldCase(name);
    const exact = byName.get(folded)?.find((pattern) => isAbove(folder, pattern));
    return exact ?? loose.find((pattern) => fits(folded, pattern) && isAbove(folder, pattern));
  };
  return {
    findName,
    find: (path) => findIn(path.split("/"), findName),
    below: (name) => outer.get(foldCase(name)) ?? [],
  };
}

function addTo<V>(lists: Map<string, V[]>, name: string, one: V): void {
  lists.set(name, [...(lists.get(name) ?? []), one]);
}

function fits(folded: string, { start, end }: Pattern<unknown>): boolean {
  return folded.startsWith(start) && folded.endsWith(end) && folded.length >= start.length + end.length;
}

function isAbove(folder: string, { above }: Pattern<unknown>): boolean {
  if (above.length === 0) return true;
  const names = folder.split("/").reverse();
  return above.every((name, at) => foldCase(names[at] ?? "") === name);
}

function findIn<T>(names: readonly string[], findName: PathIndex<T>["findName"]): PathMatch<T> | undefined {
  for (const [at, name] of names.entries()) {
    const found = name === "" ? undefined : findName(names.slice(0, at).join("/"), name);
    if (found && (found.isFolder || at === names.length - 1)) return found;
  }
  return undefined;
}
