/** Kept places: what of Lathe's own lies in a repository, as when a home folder is one; it goes into no working tree. */
import { realpathSync } from "node:fs";
import { join } from "node:path";

/**
 * Absolute, of one character per byte, as git names files; where a link leads out of the state folder, both ends. A
 * repository may itself lie in the state folder, as in a fork: then that is worked in.
 */
export function keptPlaces(state: string, top: string): readonly string[] {
  const places = [state, join(state, "mcp"), join(state, "inbox")].flatMap((path) => [path, ...realOf(path)]);
  const root = byteNames(top);
  return [...new Set(places)].map(byteNames).filter((place) => !isKeptIn([place], root));
}

function byteNames(path: string): string {
  return Buffer.from(path).toString("latin1");
}

function realOf(path: string): readonly string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}

/** Whether a path, of one character per byte, is one of them or lies in one. */
export function isKeptIn(kept: readonly string[], path: string): boolean {
  return kept.some((place) => path === place || path.startsWith(`${place}/`));
}

/** Of git's names below a folder those that do not lie there. */
export function withoutKept(
  kept: readonly string[],
  top: string,
  names: readonly string[],
): readonly string[] {
  const root = byteNames(top);
  return names.filter((name) => !isKeptIn(kept, `${root}/${name.replace(/\/$/, "")}`));
}
