/**
 * A held folder is open, and its entries are reached through its descriptor. If a path component is later
 * swapped for a symbolic link, entries still come from the folder that was opened. Linux only: `open(2)` with
 * `O_PATH`, then `/proc/self/fd/N/name` (proc(5)). Without `/proc` (macOS, Windows), entries are reached by
 * path (`isHeld` is false) and no link is followed. Right before each use the path must still lead to the
 * opened folder, and an opened file must be the one that `lstat` just saw. A swap between that check and the
 * call is not noticed; any process that can write in the folder can use that window.
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
import { isAbsolute, parse, sep } from "node:path";

/** A single path component, or its bytes if a name is not UTF-8. */
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
  /** Its identity when it was opened, if there is no descriptor. */
  readonly #opened: number | Stats;

  private constructor(path: EntryName, opened: number | Stats) {
    this.path = path;
    this.#opened = opened;
  }

  /** *Contract:* throws file system errors; `ENOTDIR` for a link or anything but a folder. */
  static open(reached: EntryName, path: EntryName): HeldFolder {
    if (holdsDescriptors()) return new HeldFolder(path, openSync(reached, pathOnly | directory | noFollow));
    return new HeldFolder(path, folderAt(path));
  }

  /** Whether entries are reached through a descriptor. */
  get isHeld(): boolean {
    return typeof this.#opened === "number";
  }

  /** A path that reaches the folder itself while it is held. */
  get reached(): EntryName {
    if (typeof this.#opened === "number") return `/proc/self/fd/${this.#opened}`;
    if (!isSameEntry(this.#opened, folderAt(this.path))) throw codedError("ENOTDIR", this.path);
    return this.path;
  }

  /**
   * A path that reaches an entry while the folder is held, for calls that do not follow a final link
   * (`lstat`, `readlink`, `rename`, `unlink`, `link`, `symlink`, `mkdir`, `rmdir`). Use `open` to read
   * content. *Contract:* throws `EINVAL` if the name is not a single component.
   */
  at(name: EntryName): EntryName {
    return joined(this.reached, checked(name));
  }

  /** *Contract:* as `HeldFolder.open`. The caller closes it. */
  enter(name: EntryName): HeldFolder {
    return HeldFolder.open(this.at(name), joined(this.path, name));
  }

  /**
   * A descriptor of the entry itself, which the caller closes. *Contract:* never follows a link (`ELOOP`),
   * never waits for a pipe. The caller uses `fstat` to check what was opened.
   */
  open(name: EntryName, flags: number = constants.O_RDONLY, mode?: number): number {
    return openEntry(this.at(name), flags, mode);
  }

  /** Undefined if nothing exists. For a link, its own stats. */
  lstat(name: EntryName): Stats | undefined {
    return lstatSync(this.at(name), { throwIfNoEntry: false });
  }

  /** The folder's own stats. */
  stats(): Stats {
    return typeof this.#opened === "number" ? fstatSync(this.#opened) : lstatSync(this.reached);
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
    if (typeof this.#opened === "number") closeSync(this.#opened);
  }
}

/**
 * Holds the folder at an absolute path that has no links in it. *Contract:* throws file system errors;
 * `ENOTDIR` if a component is a link.
 */
export function holdFolder(path: EntryName): HeldFolder {
  const top = rootOf(path);
  return holdAtOnce(path) ?? hold(HeldFolder.open(top, top), path);
}

/**
 * As `holdFolder`, with one call for the whole path: if it contains a link, the kernel reports another path
 * for the opened folder. Undefined in that case, or if nothing was opened: walking the path finds the reason.
 */
export function holdAtOnce(path: EntryName): HeldFolder | undefined {
  if (!holdsDescriptors()) return undefined;
  let folder: HeldFolder;
  try {
    folder = HeldFolder.open(path, path);
  } catch {
    return undefined;
  }
  if (Buffer.from(path).equals(readlinkSync(folder.reached, "buffer"))) return folder;
  folder.close();
  return undefined;
}

/**
 * Holds the folder at a path below a held one; the path may be empty, or `.`. *Contract:* as `holdFolder`;
 * never leaves `root`, which stays open.
 */
export function holdBelow(root: HeldFolder, path: EntryName): HeldFolder {
  // With a trailing dot the descriptor's own link is not the last component, so it is followed.
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
  return withFolder(parts.reduce(joined, rootOf(path)), (folder) => use(folder, name));
}

/**
 * A descriptor of the entry at a path, as `HeldFolder.open`; its parent folder is held on the way.
 * *Contract:* as `HeldFolder.open`.
 */
export function openEntry(path: EntryName, flags: number = constants.O_RDONLY, mode?: number): number {
  // A single call creates a new file or fails.
  const isNew = (flags & constants.O_EXCL) !== 0;
  if (isNew || holdsDescriptors()) return openSync(path, flags | safely, mode);
  const seen = lstatSync(path, { throwIfNoEntry: false });
  if (seen?.isSymbolicLink()) throw codedError("ELOOP", path);
  const file = openSync(path, flags | safely, mode);
  const opened = fstatSync(file);
  if (!seen || isSameEntry(opened, seen)) return file;
  closeSync(file);
  throw codedError("ELOOP", path);
}

/**
 * Calls `use` with a path that reaches the entry, for calls that follow a final link, and with its stats.
 * *Contract:* `ELOOP` for a link; `use` only gets the entry that was checked. Opens nothing for reading.
 */
export function withEntry<T>(path: EntryName, use: (reached: EntryName, stats: Stats) => T): T {
  if (!holdsDescriptors()) return use(path, notLink(path, lstatSync(path)));
  const file = openSync(path, pathOnly | noFollow);
  try {
    return use(`/proc/self/fd/${file}`, notLink(path, fstatSync(file)));
  } finally {
    closeSync(file);
  }
}

/** A path that reaches an open file; its own path if descriptors have none. */
export function reachedFile(file: number, path: EntryName): EntryName {
  return holdsDescriptors() ? `/proc/self/fd/${file}` : path;
}

function folderAt(path: EntryName): Stats {
  const stats = lstatSync(path);
  if (!stats.isDirectory()) throw codedError("ENOTDIR", path);
  return stats;
}

function isSameEntry(a: Stats, b: Stats): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}

function notLink(path: EntryName, stats: Stats): Stats {
  if (stats.isSymbolicLink()) throw codedError("ELOOP", path);
  return stats;
}

function rootOf(path: EntryName): EntryName {
  const text = path.toString("latin1");
  if (!isAbsolute(text)) throw codedError("EINVAL", path);
  return parse(text).root;
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
  const text = isBytes ? path.toString("latin1") : path;
  const names = text
    .slice(parse(text).root.length)
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
  // Called for each file of a walk: `join` would take longer than the call itself.
  if (typeof folder === "string" && typeof name === "string")
    return folder.endsWith(sep) ? folder + name : folder + sep + name;
  const before = Buffer.from(folder);
  const hasEnd = before.at(-1) === sep.charCodeAt(0);
  return Buffer.concat([before, Buffer.from(hasEnd ? "" : sep), Buffer.from(name)]);
}

function codedError(code: string, path: EntryName): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${path.toString()}`), { code, path: path.toString() });
}
