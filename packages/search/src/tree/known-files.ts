/** Known files: what is known of each file of a tree, kept up by their stamps. */
import { relative, sep } from "node:path";
import { type FileStamp, isFresh, isSameStamp, stampOf } from "./file-stamp.ts";
import { type KnownToGit, type Repository, readGitIndex } from "./git-index.ts";

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
  /** Looks at a file; what is new is looked up in git's index before it has to be read. */
  see(path: string): void;
  /** Forgets what was not seen; true when a file came, went or changed. */
  end(): boolean;
}

/** Of a whole tree, in place: most of it is as it was, and a session sweeps often. */
export function beginSweep(
  { root, repository }: { readonly root: string; readonly repository: Repository | undefined },
  files: KnownFiles,
): Sweep {
  const sweep = {};
  let [seen, changed] = [0, false];
  let git: ReadonlyMap<string, KnownToGit> | undefined;
  const prefix = repository ? prefixOf(repository.top, root) : "";
  const knownToGit = (path: string, stamp: FileStamp): string | undefined => {
    if (!repository) return undefined;
    git ??= readGitIndex(repository.folder);
    const entry = git.get(prefix + path);
    return entry && isClean(entry, stamp) ? entry.id : undefined;
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
      changed = true;
      const id = knownToGit(path, stamp);
      files.set(path, { stamp, isFresh: isFresh(stamp, now), seen: sweep, ...(id !== undefined && { id }) });
    },
    end() {
      if (seen === files.size) return changed;
      for (const [path, file] of files) if (file.seen !== sweep) files.delete(path);
      return true;
    },
  };
}

function prefixOf(top: string, root: string): string {
  const inside = relative(top, root).split(sep).join("/");
  return inside === "" ? "" : `${inside}/`;
}

function isClean({ size, mtime: [seconds, nanoseconds] }: KnownToGit, stamp: FileStamp): boolean {
  return size === stamp.size && Math.abs(seconds * 1000 + nanoseconds / 1e6 - stamp.mtime) < 0.01;
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
