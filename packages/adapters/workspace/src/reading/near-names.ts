/** Names that a mistyped path may have meant. */
import type { Dirent } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type HeldFolder, holdBelow, withFolder } from "@lathe/system/held-folder";
import { distance } from "fastest-levenshtein";

const maxNames = 3;
/** Maximum entries to check: a suggestion is worth only a few milliseconds. */
const maxEntries = 5_000;
const skipped = new Set([".git", "node_modules"]);

/** Workspace-relative paths like `path`, best first: nearly the same name beside it, or the same name elsewhere. */
export function nearNames(root: string, path: string): readonly string[] {
  try {
    return withFolder(root, (held) => namesLike(held, path));
  } catch {
    // The root itself is gone, or replaced.
    return [];
  }
}

function namesLike(root: HeldFolder, path: string): readonly string[] {
  const wanted = basename(path).toLowerCase();
  const folder = dirname(path);
  const beside = entriesOf(root, folder).map((entry) => ({
    path: join(folder, entry.name),
    least: 0.6,
  }));
  const elsewhere = walked(root).map((at) => ({ path: at, least: 0.9 }));
  const scores = new Map<string, number>();
  for (const { path: at, least } of [...beside, ...elsewhere]) {
    const score = likeness(basename(at).toLowerCase(), wanted);
    if (score >= least && !scores.has(at)) scores.set(at, score);
  }
  const best = [...scores].sort((a, b) => b[1] - a[1]);
  return best.slice(0, maxNames).map(([at]) => at.replaceAll("\\", "/"));
}

/** The first paths of the workspace, breadth first. */
function walked(root: HeldFolder): readonly string[] {
  const found: string[] = [];
  const folders = ["."];
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    for (const entry of entriesOf(root, folder)) {
      if (found.length === maxEntries) return found;
      const at = join(folder, entry.name);
      found.push(at);
      if (entry.isDirectory() && !skipped.has(entry.name)) folders.push(at);
    }
  }
  return found;
}

function entriesOf(root: HeldFolder, path: string): readonly Dirent[] {
  try {
    const folder = holdBelow(root, path);
    try {
      return folder.list();
    } finally {
      folder.close();
    }
  } catch {
    // A folder that is missing, is a link, or is unreadable has no names to suggest.
    return [];
  }
}

/** From 1 for equal names down to 0: the share of characters that one edit distance leaves unchanged. */
function likeness(a: string, b: string): number {
  if (a === b) return 1;
  const longer = Math.max(a.length, b.length);
  if (Math.abs(a.length - b.length) > longer / 2) return 0;
  return 1 - distance(a, b) / longer;
}
