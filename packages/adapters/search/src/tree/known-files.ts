/** Known files: what is known of each file of a tree, kept up by their stamps. */
import { type FileStamp, isFresh, isSameStamp, stampOf } from "./file-stamp.ts";
import { gitIds } from "./git-ids.ts";
import type { Repository } from "./git-index.ts";

export interface KnownFile {
  stamp: FileStamp;
  /** Absent until its bytes were read. */
  id?: string;
  /** It may change again without a new stamp: then it is read again. */
  isFresh: boolean;
  /** The sweep that has seen it last. */
  seen?: object;
}

export type KnownFiles = Map<string, KnownFile>;

export interface Sweep {
  /** Looks at a file. */
  see(path: string): void;
  /** This file is not searched, or not there, any more. */
  drop(path: string): void;
  /** Of one of the whole tree, what was not seen is forgotten. */
  end(of: "all" | "some"): Swept;
}

export interface Swept {
  /** Files that came or changed. */
  readonly changed: ReadonlySet<string>;
  /** Files came or went. */
  readonly isOther: boolean;
}

/** Changed files from which on git's index is read for them: it takes as long as reading some hundred files. */
const manyChanged = 32;

/** Of a whole tree or of some of its files, in place: most of it is as it was, and a session sweeps often. */
export function beginSweep(
  { root, repository }: { readonly root: string; readonly repository: Repository | undefined },
  files: KnownFiles,
): Sweep {
  const sweep = {};
  let [seen, isOther] = [0, false];
  const changed = new Set<string>();
  const askGit = (paths: Iterable<string>): void => {
    const knownToGit = gitIds({ root, repository });
    for (const path of paths) {
      const file = files.get(path);
      if (!file) continue;
      const id = knownToGit(path, file.stamp);
      if (id !== undefined) file.id = id;
    }
  };
  return {
    see(path) {
      const now = Date.now();
      const stamp = stampOf(`${root}/${path}`);
      if (!stamp) return;
      seen++;
      const known = files.get(path);
      if (known && !known.isFresh && isSameStamp(known.stamp, stamp)) {
        known.seen = sweep;
        return;
      }
      if (!known) isOther = true;
      changed.add(path);
      files.set(path, { stamp, isFresh: isFresh(stamp, now), seen: sweep });
    },
    drop(path) {
      if (files.delete(path)) isOther = true;
      changed.delete(path);
    },
    end(of) {
      if (of === "all" && seen !== files.size) {
        isOther = true;
        for (const [path, file] of files) if (file.seen !== sweep) files.delete(path);
      }
      if (changed.size >= manyChanged) askGit(changed);
      return { changed, isOther };
    },
  };
}

/** As text of a file: one line for each path. */
export function encodeKnown(files: KnownFiles): Uint8Array {
  const lines: string[] = [];
  for (const [path, { stamp, id, isFresh: fresh }] of files) {
    if (fresh || id === undefined || path.includes("\n")) continue;
    lines.push(`${id} ${stamp.size} ${stamp.mtime} ${stamp.ctime} ${stamp.inode} ${path}`);
  }
  return Buffer.from(`${lines.join("\n")}\n`);
}

/** *Contract:* lines that are torn are left out; what they speak of is looked at again. */
export function decodeKnown(bytes: Uint8Array): KnownFiles {
  const files: KnownFiles = new Map();
  for (const line of Buffer.from(bytes).toString("utf8").split("\n").slice(0, -1)) {
    const [, id, size, mtime, ctime, inode, path] =
      /^(\w{40}) (\d+) ([\d.]+) ([\d.]+) (\d+) (.+)$/.exec(line) ?? [];
    if (id === undefined || path === undefined) continue;
    const stamp = { size: Number(size), mtime: Number(mtime), ctime: Number(ctime), inode: Number(inode) };
    files.set(path, { stamp, id, isFresh: false });
  }
  return files;
}
