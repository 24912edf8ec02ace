/** Code tree: the files in folders of the workspace that a program may load, with each folder read once. */
import { createHash } from "node:crypto";
import { closeSync, constants, type Dirent, fstatSync, openSync, readdirSync, readlinkSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { isBelow, readBounded } from "@lathe/system";

/** With more files than this, Lathe cannot tell which ones a program loads. */
export const maxFiles = 20_000;
/** Bytes; for longer files, size and times stand for the content. */
const maxRead = 4 * 2 ** 20;

const codeEndings: ReadonlySet<string> = new Set(
  ".js .mjs .cjs .jsx .ts .mts .cts .tsx .json .node .wasm .py .pyc .pth .so .cfg .toml .rb .pl .pm .php .lua .sh .bash".split(
    " ",
  ),
);
const dataEndings: ReadonlySet<string> = new Set(".json .node .wasm .so .pyc .toml .cfg".split(" "));
/** Installed or generated folders; code in them is found by package name. */
const apart: ReadonlySet<string> = new Set(["node_modules", "__pycache__", ".git", ".venv", "venv"]);

export function isCode(path: string): boolean {
  const ending = extname(path);
  return ending === "" || codeEndings.has(ending);
}

/** Whether its text can name other files. */
export function isProgramText(path: string): boolean {
  return isCode(path) && !dataEndings.has(extname(path));
}

export class CodeTree {
  readonly #folders = new Map<string, ReadonlyMap<string, Dirent>>();

  /** Most names match no file, so each folder is read once instead of checking every path. */
  has(path: string): boolean {
    return this.#entries(dirname(path)).has(basename(path));
  }

  #entries(folder: string): ReadonlyMap<string, Dirent> {
    const found = this.#folders.get(folder) ?? entriesOf(folder);
    this.#folders.set(folder, found);
    return found;
  }

  /** Full paths, unsorted. *Contract:* stops once there are more than `most`, and returns those. */
  filesBelow(
    folder: string,
    { deep, most }: { readonly deep: boolean; readonly most: number },
  ): readonly string[] {
    const files: string[] = [];
    const waiting = [folder];
    for (let next = waiting.pop(); next !== undefined && files.length <= most; next = waiting.pop()) {
      for (const [name, entry] of this.#entries(next)) {
        const path = join(next, name);
        if (entry.isSymbolicLink() || (entry.isFile() && isCode(path))) files.push(path);
        if (deep && entry.isDirectory() && !apart.has(name)) waiting.push(path);
      }
    }
    return files;
  }
}

/**
 * A folder of the workspace and its parents up to the workspace, nearest first; none for a folder outside.
 */
export function foldersUp(from: string, cwd: string): readonly string[] {
  const folders: string[] = [];
  for (let at = from; isBelow(at, cwd); at = dirname(at)) {
    folders.push(at);
    // At the machine's root, which may be the workspace, `dirname` repeats itself.
    if (at === cwd) break;
  }
  return folders;
}

/** Empty if there is no such folder. */
function entriesOf(folder: string): ReadonlyMap<string, Dirent> {
  try {
    return new Map(readdirSync(folder, { withFileTypes: true }).map((entry) => [entry.name, entry]));
  } catch {
    return new Map();
  }
}

/**
 * Undefined if there is no such file; an unreadable file gets a digest of its error. The digest is of the
 * file that was opened, even if another file replaces it meanwhile.
 */
export function digestOfFile(path: string): string | undefined {
  try {
    return readDigest(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // A socket, or a device without a driver.
    if (code === "ENXIO" || code === "ENODEV") return "no file";
    const isThere = code !== "ENOENT" && code !== "ENOTDIR" && code !== "ENAMETOOLONG";
    return isThere ? `unreadable (${code})` : undefined;
  }
}

function readDigest(path: string): string | undefined {
  // Without this flag, opening a pipe without a writer would block forever.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(file, { bigint: true });
    if (stats.isDirectory()) return undefined;
    if (!stats.isFile()) return "no file";
    if (stats.size > maxRead) return `${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
    const found = readBounded(file, { maxBytes: maxRead });
    if (!found || found.isCut) return "no file";
    return createHash("sha256").update(found.bytes).digest("hex");
  } finally {
    closeSync(file);
  }
}

/** For a link to a folder: its target. */
export function digestOfEntry(path: string): string {
  const digest = digestOfFile(path);
  if (digest !== undefined) return digest;
  try {
    return `leads to ${readlinkSync(path)}`;
  } catch {
    return "gone";
  }
}
