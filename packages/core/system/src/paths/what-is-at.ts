/** What is at a path, and nothing where that cannot be told. */
import { lstatSync, readdirSync, type Stats, statSync } from "node:fs";

/** Of a link the link itself; undefined when there is nothing, or a file where a folder should be. */
export function kindOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** As `kindOf`, but of a link what it leads to. */
export function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Whether a folder is there, be it by a link; throws where that cannot be told. */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Names in a folder; none where it is not there or may not be listed. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
