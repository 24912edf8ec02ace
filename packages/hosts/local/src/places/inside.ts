/** Inside: whether a path, its links followed, lies in a folder, whose own links were followed. */
import { sep } from "node:path";

export function isInside(root: string, real: string): boolean {
  return real === root || real.startsWith(root.endsWith(sep) ? root : root + sep);
}
