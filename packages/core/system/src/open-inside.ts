/** Opens a regular file inside a folder whose content may change meanwhile, and never one outside it. */
import { closeSync, constants, fstatSync, openSync, readlinkSync } from "node:fs";
import { join, sep } from "node:path";
import { type HeldFolder, holdFolder } from "./held-folder.ts";

/** `O_PATH` of `fcntl.h` on Linux: opening has no effect, even on a device. */
const pathOnly = process.platform === "linux" ? 0o10000000 : 0;
const safely = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * A descriptor to read the file at `path` below the real path `root`, which the caller closes. *Contract:*
 * follows no link below `root`. Throws file system errors; `EINVAL` for anything but a regular file, and for
 * a path that leaves the folder.
 */
export function openInside(root: string, path: string): number {
  const absolute = absoluteInside(root, path);
  if (pathOnly === 0) return openSlowly(absolute);
  const place = openSync(absolute, pathOnly | safely);
  try {
    const reached = `/proc/self/fd/${place}`;
    // One call shows where the file is. If the spelling differs, as on a case-insensitive disk, the folders
    // are walked.
    if (readlinkSync(reached) !== absolute) return openSlowly(absolute);
    if (!fstatSync(place).isFile()) throw notRegular(absolute);
    return openSync(reached, constants.O_RDONLY);
  } finally {
    closeSync(place);
  }
}

/** Opens many files of one tree. The last folder stays held, since most files come folder by folder. */
export class InsideOpener {
  readonly #root: string;
  #held: { readonly path: string; readonly folder: HeldFolder } | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  /** *Contract:* as `openInside`. */
  open(path: string): number {
    const absolute = absoluteInside(this.#root, path);
    const end = absolute.lastIndexOf("/");
    return openRegular(this.#folder(absolute.slice(0, end) || "/"), absolute.slice(end + 1));
  }

  close(): void {
    this.#held?.folder.close();
    this.#held = undefined;
  }

  #folder(path: string): HeldFolder {
    if (this.#held?.path !== path) {
      this.close();
      this.#held = { path, folder: holdFolder(path) };
    }
    return this.#held.folder;
  }
}

function openSlowly(absolute: string): number {
  const end = absolute.lastIndexOf("/");
  const folder = holdFolder(absolute.slice(0, end) || "/");
  try {
    return openRegular(folder, absolute.slice(end + 1));
  } finally {
    folder.close();
  }
}

function openRegular(folder: HeldFolder, name: string): number {
  const file = folder.open(name);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw notRegular(`${folder.path}${sep}${name}`);
}

function absoluteInside(root: string, path: string): string {
  const absolute = join(root, path);
  if (!absolute.startsWith(root === sep ? root : root + sep)) throw invalid(`${path} leaves ${root}`);
  return absolute;
}

function notRegular(path: string): NodeJS.ErrnoException {
  return invalid(`${path} is no regular file`);
}

function invalid(text: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`EINVAL: ${text}`), { code: "EINVAL" });
}
