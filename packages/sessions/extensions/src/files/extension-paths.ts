/** Custom paths: where the files of one kind lie below a folder; bounded, whatever the links in it lead to. */
import { type Dirent, opendirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { isInside } from "@lathe/system";
import { type EntryName, withFolder } from "@lathe/system/held-folder";

export interface CustomPaths {
  /** From the root; those that lie higher first. */
  readonly paths: readonly string[];
  /** What was left out and why, one sentence each. */
  readonly remarks: readonly string[];
}

/** `folder` is looked at below `root`; a project's leads to nothing outside of that. */
export interface Looked {
  readonly root: string;
  readonly folder: string;
  readonly isProjects: boolean;
  /** Of the files wanted, where each has a folder of its own; absent for Markdown in any folder below. */
  readonly file?: string;
}

/** Folders below each other, entries of all of them, and files. */
const mostDepth = 8;
const mostEntries = 2_000;
const mostFiles = 200;

interface Walk extends Looked {
  /** Real paths: links may lead to where the walk has been. */
  readonly seen: Set<string>;
  readonly remarks: string[];
  left: number;
}

export function findCustomPaths(looked: Looked): CustomPaths {
  const walk: Walk = { ...looked, seen: new Set(), remarks: [], left: mostEntries + 1 };
  const found = looked.file === undefined ? filesBelow(walk) : foldersOf(walk, looked.file);
  if (walk.left === 0)
    walk.remarks.push(`${looked.folder}: after ${mostEntries} entries the rest was left out`);
  if (found.length > mostFiles)
    walk.remarks.push(`${looked.folder}: ${found.length - mostFiles} of ${found.length} files were left out`);
  return { paths: found.slice(0, mostFiles), remarks: walk.remarks };
}

function foldersOf(walk: Walk, file: string): readonly string[] {
  return entriesOf(walk, walk.folder)
    .filter((entry) => !entry.isFile())
    .map(({ name }) => join(walk.folder, name, file));
}

function filesBelow(walk: Walk): readonly string[] {
  const found: string[] = [];
  let level = [walk.folder];
  for (let depth = 0; level.length > 0 && depth < mostDepth; depth++) {
    const below: string[] = [];
    for (const folder of level) {
      for (const entry of entriesOf(walk, folder)) {
        const path = join(folder, entry.name);
        if (isFolder(join(walk.root, path), entry)) below.push(path);
        else if (entry.name.endsWith(".md")) found.push(path);
      }
    }
    level = below;
  }
  walk.remarks.push(...level.map((path) => `${path} was left out: it lies ${mostDepth} folders deep`));
  return found;
}

function isFolder(path: string, entry: Dirent): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  try {
    return statSync(path).isDirectory();
  } catch {
    // Whoever reads it says what is wrong with it.
    return false;
  }
}

/** Sorted by name. */
function entriesOf(walk: Walk, folder: string): readonly Dirent[] {
  try {
    const real = realpathSync(join(walk.root, folder));
    if (walk.isProjects && !isInside(realpathSync(walk.root), real)) {
      walk.remarks.push(`${folder} was left out: it leads out of the workspace`);
      return [];
    }
    if (walk.seen.has(real)) return [];
    walk.seen.add(real);
    // The folder that was looked at is the one that is listed, whatever takes its place meanwhile.
    return withFolder(real, (held) => firstEntries(walk, held.reached)).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    );
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR")
      walk.remarks.push(`${folder} was left out: it cannot be read (${code})`);
    return [];
  }
}

/** One after the other: a folder may hold more than there is memory for. */
function firstEntries(walk: Walk, path: EntryName): Dirent[] {
  const entries: Dirent[] = [];
  const opened = opendirSync(path);
  try {
    while (walk.left > 0) {
      const entry = opened.readSync();
      if (entry === null) break;
      entries.push(entry);
      walk.left--;
    }
    return entries;
  } finally {
    opened.closeSync();
  }
}
