/** What is at a path, whatever lies on the way. */
import { lstatSync, type Stats, statSync } from "node:fs";

/** Of a link the link itself; undefined when there is nothing, or a file where a folder should be. */
export function kindOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Whether a folder is there, be it by a link; throws where that cannot be told. */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
