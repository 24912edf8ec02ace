/** File stamp: what tells that a file has changed without reading it. */
import { lstatSync, type Stats } from "node:fs";

export interface FileStamp {
  readonly size: number;
  readonly mtime: number;
  readonly ctime: number;
  readonly inode: number;
}

/** Undefined for what is no regular file. */
export function stampOf(path: string): FileStamp | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false }) as Stats | undefined;
  if (!stats?.isFile()) return undefined;
  return stampFrom(stats);
}

export function stampFrom({ size, mtimeMs, ctimeMs, ino }: Stats): FileStamp {
  return { size, mtime: mtimeMs, ctime: ctimeMs, inode: ino };
}

export function isSameStamp(a: FileStamp, b: FileStamp): boolean {
  return a.mtime === b.mtime && a.size === b.size && a.ctime === b.ctime && a.inode === b.inode;
}

/** Milliseconds in which a second change may leave the same stamp: clocks of file systems tick. */
const tick = 20;

/** Whether a file may have changed again with the same stamp after it was looked at. */
export function isFresh(stamp: FileStamp, lookedAt: number): boolean {
  return lookedAt - Math.max(stamp.mtime, stamp.ctime) < tick;
}
