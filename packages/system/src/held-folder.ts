/**
 * A held folder is open, and its entries are reached through its descriptor. A path component that someone swaps for a
 * symbolic link afterwards leads nowhere: entries still come from the folder that was opened.
 *
 * Linux only: `open(2)` with `O_PATH`, then `/proc/self/fd/N/name` (proc(5)). Where `/proc` is missing, entries are
 * reached by path; each step refuses links, but a swap between the check and the use is not noticed (`isHeld` is false).
 */
import {
  closeSync,
  constants,
  type Dirent,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  type Stats,
} from "node:fs";
import { isAbsolute, join, sep } from "node:path";

/** A single path component, or bytes of one where a name is not UTF-8. */
export type EntryName = string | Buffer;

/** `O_PATH` of `fcntl.h` on Linux; Node does not export it. */
const pathOnly = 0o10000000;
const directory = constants.O_DIRECTORY ?? 0;
const noFollow = constants.O_NOFOLLOW ?? 0;
/** Opening a pipe must not wait for its other end. */
const safely = noFollow | (constants.O_NONBLOCK ?? 0);

let canHold: boolean | undefined;

function holdsDescriptors(): boolean {
  canHold ??= process.platform === "linux" && existsSync("/proc/self/fd");
  return canHold;
}

export class HeldFolder {
  /** The absolute path it was opened by, for messages. It may name something else by now. */
  readonly path: EntryName;
  readonly #descriptor: number | undefined;

  private constructor(path: EntryName, descriptor: number | undefined) {
    this.path = path;
    this.#descriptor = descriptor;
  }

  /** *Contract:* throws what the file system throws; `ENOTDIR` for a link or what is no folder. */
  static open(reached: EntryName, path: EntryName): HeldFolder {
    if (holdsDescriptors()) return new HeldFolder(path, openSync(reached, pathOnly | directory | noFollow));
    if (!lstatSync(path).isDirectory()) throw codedError("ENOTDIR", path);
    return new HeldFolder(path, undefined);
  }

  /** Whether entries are reached through a descriptor. */
  get isHeld(): boolean {
    return this.#descriptor !== undefined;
  }

  /** A path that reaches the folder itself while it is held. */
  get reached(): EntryName {
    return this.#descriptor === undefined ? this.path : `/proc/self/fd/${this.#descriptor}`;
  }

  /**
   * A path that reaches an entry while the folder is held, for calls that do not follow a last link (`lstat`, `readlink`,
   * `rename`, `unlink`, `link`, `symlink`, `mkdir`, `rmdir`). Content is read through `open`.
   * *Contract:* throws `EINVAL` for what is not a single component.
   */
  at(name: EntryName): EntryName {
    return joined(this.reached, checked(name));
  }

  /** *Contract:* as `HeldFolder.open`. The caller closes it. */
  enter(name: EntryName): HeldFolder {
    return HeldFolder.open(this.at(name), joined(this.path, name));
  }

  /**
   * A descriptor of the entry itself, which the caller closes.
   * *Contract:* never follows a link (`ELOOP`), never waits for a pipe. The caller asks `fstat` what it has opened.
   */
  open(name: EntryName, flags: number = constants.O_RDONLY, mode?: number): number {
    return openSync(this.at(name), flags | safely, mode);
  }

  /** Undefined where there is nothing. A link's own, not its target's. */
  lstat(name: EntryName): Stats | undefined {
    return lstatSync(this.at(name), { throwIfNoEntry: false });
  }

  /** Its own. */
  stats(): Stats {
    return this.#descriptor === undefined ? lstatSync(this.path) : fstatSync(this.#descriptor);
  }

  readlink(name: EntryName): string {
    return readlinkSync(this.at(name));
  }

  list(): Dirent[] {
    return readdirSync(this.reached, { withFileTypes: true });
  }

  /** With names as bytes. */
  listBytes(): Dirent<Buffer>[] {
    return readdirSync(this.reached, { withFileTypes: true, encoding: "buffer" });
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }
}

/**
 * Holds the folder at an absolute path that has no links in it.
 * *Contract:* throws what the file system throws; `ENOTDIR` where a component is a link.
 */
export function holdFolder(path: EntryName): HeldFolder {
  if (!isAbsolute(path.toString("latin1"))) throw codedError("EINVAL", path);
  return hold(HeldFolder.open(sep, sep), path);
}

/**
 * Holds the folder at a path below a held one; the path may be empty, or `.`.
 * *Contract:* as `holdFolder`; never leaves `root`, which stays open.
 */
export function holdBelow(root: HeldFolder, path: EntryName): HeldFolder {
  // The trailing dot makes the descriptor's own link one on the way, which is followed.
  const start = root.isHeld ? `${root.reached}/.` : root.path;
  return hold(HeldFolder.open(start, root.path), path);
}

/** Calls `use` with the held folder at an absolute path without links, and closes it. */
export function withFolder<T>(path: EntryName, use: (folder: HeldFolder) => T): T {
  const folder = holdFolder(path);
  try {
    return use(folder);
  } finally {
    folder.close();
  }
}

/** Calls `use` with the held parent of an absolute path without links and the last component's name. */
export function withParent<T>(path: EntryName, use: (folder: HeldFolder, name: EntryName) => T): T {
  const parts = componentsOf(path);
  const name = parts.pop();
  if (name === undefined) throw codedError("EINVAL", path);
  return withFolder(parts.reduce(joined, sep as EntryName), (folder) => use(folder, name));
}

/** Closes `from`. */
function hold(from: HeldFolder, path: EntryName): HeldFolder {
  let folder = from;
  for (const name of componentsOf(path)) {
    try {
      const next = folder.enter(name);
      folder.close();
      folder = next;
    } catch (cause) {
      folder.close();
      throw cause;
    }
  }
  return folder;
}

function componentsOf(path: EntryName): EntryName[] {
  const isBytes = typeof path !== "string";
  const names = (isBytes ? path.toString("latin1") : path)
    .split(sep)
    .filter((name) => name !== "" && name !== ".");
  return isBytes ? names.map((name) => Buffer.from(name, "latin1")) : names;
}

function checked(name: EntryName): EntryName {
  const text = typeof name === "string" ? name : name.toString("latin1");
  if (text === "" || text === "." || text === ".." || text.includes(sep) || text.includes("\0"))
    throw codedError("EINVAL", name);
  return name;
}

function joined(folder: EntryName, name: EntryName): EntryName {
  if (typeof folder === "string" && typeof name === "string") return join(folder, name);
  const before = Buffer.from(folder);
  const isRoot = before.length === 1 && before[0] === 0x2f;
  return Buffer.concat([before, Buffer.from(isRoot ? "" : sep), Buffer.from(name)]);
}

function codedError(code: string, path: EntryName): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${path.toString()}`), { code, path: path.toString() });
}
