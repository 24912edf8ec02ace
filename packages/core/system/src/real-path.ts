/** Real paths: where a path leads when its links are followed, and whether that is in a folder. */
import { realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";

/** The path itself where it does not exist yet. */
export function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The real path of the nearest folder above that exists, with the missing part behind it. */
export function nearestReal(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path === "/" ? path : join(nearestReal(dirname(path)), path.slice(path.lastIndexOf("/") + 1));
  }
}

/** Whether a real path is a real folder or in it. */
export function isInside(root: string, real: string): boolean {
  return real === root || real.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** Whether the real path of `path` is `folder` or in it; the path need not exist yet. */
export function liesIn(path: string, folder: string): boolean {
  return `${nearestReal(path)}${sep}`.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}
