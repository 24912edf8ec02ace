/** Own files: what the host may touch in a folder that contained commands can change: no link leads it out of there. */
import { lstatSync, mkdirSync, readdirSync, realpathSync, rmSync, type Stats } from "node:fs";
import { dirname, join, sep } from "node:path";
import { readBounded } from "@lathe/system";

/** A folder as it was when it was made. */
export interface OwnFolder {
  readonly path: string;
  readonly device: number;
  readonly inode: number;
}

/** Undefined where there is nothing, a file on the way included. */
export function kindOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

/** Whether it is one itself, not a link to one. */
export function isRealFolder(path: string): boolean {
  return kindOf(path)?.isDirectory() === true;
}

/** Empty; what was there is taken away, a link without what it leads to. */
export function makeAnew(path: string): OwnFolder {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path);
  return ownFolder(path);
}

/** One that was made just now. */
export function ownFolder(path: string): OwnFolder {
  const { dev, ino } = lstatSync(path);
  return { path, device: dev, inode: ino };
}

export function isStill({ path, device, inode }: OwnFolder): boolean {
  const kind = kindOf(path);
  return kind?.isDirectory() === true && kind.dev === device && kind.ino === inode;
}

/** Whether what is at this path, or would be made there, lies in the folder whatever links are on the way. */
export function staysIn(folder: string, path: string): boolean {
  try {
    const root = realpathSync(folder);
    let there = path;
    while (!kindOf(there) && dirname(there) !== there) there = dirname(there);
    // A link to nothing throws: what is written to it would be made elsewhere.
    const real = realpathSync(there);
    return real === root || real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
  } catch {
    return false;
  }
}

/** Whether a copy of what is at `source` would write outside of the folder anywhere below `place`. */
export function leadsOut(folder: string, place: string, source: string): boolean {
  const kind = kindOf(source);
  // A link takes the place of what is there; all else is written into it.
  if (!staysIn(folder, kind?.isSymbolicLink() ? dirname(place) : place)) return true;
  if (!kind?.isDirectory()) return false;
  return readdirSync(source).some((name) => leadsOut(folder, join(place, name), join(source, name)));
}

/** The link or the file itself, where no folder on the way leads elsewhere. */
export function removeIn(folder: string, path: string): void {
  const file = join(folder, path);
  if (staysIn(folder, dirname(file))) rmSync(file, { force: true });
}

/** Undefined for all but a plain file of at most so many bytes: links, pipes and devices too. */
export function readPlain(path: string, most: number): string | undefined {
  try {
    const file = readBounded(path, { maxBytes: most });
    return file?.isCut === false ? file.bytes.toString() : undefined;
  } catch {
    return undefined;
  }
}
