/** Links: those to files, which ripgrep does not list; none is followed. */
import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { ignoreRules } from "./nested-ignore.ts";
import type { Place } from "./place.ts";

/** Folders that are looked into at the same time, and at all. */
const atOnce = 32;
const maxFolders = 20_000;
const ruleFiles = [".latheignore", ".rgignore", ".ignore", ".gitignore"];

/** *Contract:* in no order; what rules in the tree ignore is left out, and what cannot be read. */
export async function linksBelow(place: Place, signal: AbortSignal): Promise<readonly string[]> {
  /** Of each folder that was read, the files with rules. */
  const ruled = new Map<string, ReadonlySet<string>>();
  const has = (folder: string, name: string): boolean | undefined => ruled.get(folder)?.has(name);
  const { isIgnored, isIgnoredFolder } = ignoreRules(place, { atRoot: ruleFiles, below: ruleFiles, has });
  const links: string[] = [];
  const folders = [place.path];
  for (let done = 0; done < Math.min(folders.length, maxFolders) && !signal.aborted; ) {
    const some = folders.slice(done, done + atOnce);
    done += some.length;
    const found = await Promise.all(some.map((folder) => entriesOf(place.root, folder)));
    some.forEach((folder, at) => {
      const names = found[at]?.map(({ entry }) => entry.name) ?? [];
      ruled.set(folder, new Set(names.filter((name) => ruleFiles.includes(name))));
    });
    for (const { path, entry } of found.flat()) {
      if (entry.isDirectory() && entry.name !== ".git" && !isIgnoredFolder(path)) folders.push(path);
      if (entry.isSymbolicLink() && !isIgnored(path)) links.push(path);
    }
  }
  const isFile = await Promise.all(links.map((path) => leadsToFile(join(place.root, path))));
  return links.filter((_, at) => isFile[at]);
}

async function entriesOf(
  root: string,
  folder: string,
): Promise<readonly { readonly path: string; readonly entry: Dirent }[]> {
  try {
    const entries = await readdir(join(root, folder), { withFileTypes: true });
    return entries.map((entry) => ({ path: folder === "" ? entry.name : `${folder}/${entry.name}`, entry }));
  } catch {
    // A file, or what may not be read: ripgrep says that itself.
    return [];
  }
}

async function leadsToFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    // It leads nowhere.
    return false;
  }
}
