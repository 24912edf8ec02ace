/** What is at a path, whatever lies on the way. */
import { lstatSync, type Stats } from "node:fs";

/** Of a link the link itself; undefined when there is nothing, or a file where a folder should be. */
export function kindOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
