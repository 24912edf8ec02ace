/** Code tree: what lies in folders of the workspace that a program may load from, each looked at once. */
import { createHash } from "node:crypto";
import { closeSync, constants, type Dirent, fstatSync, openSync, readdirSync, readlinkSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { isBelow, readBounded } from "@lathe/system";

/** Above this nobody can say what a program loads. */
export const maxFiles = 20_000;
/** Bytes; of what is longer size and times stand for the content. */
const maxRead = 4 * 2 ** 20;

const codeEndings: ReadonlySet<string> = new Set(
  ".js .mjs .cjs .jsx .ts .mts .cts .tsx .json .node .wasm .py .pyc .pth .so .cfg .toml .rb .pl .pm .php .lua .sh .bash".split(
    " ",
  ),
);
const dataEndings: ReadonlySet<string> = new Set(".json .node .wasm .so .pyc .toml .cfg".split(" "));
/** Installed, made or kept for others; what of it is loaded is found by its name. */
const apart: ReadonlySet<string> = new Set(["node_modules", "__pycache__", ".git", ".venv", "venv"]);

export function isCode(path: string): boolean {
  const ending = extname(path);
  return ending === "" || codeEndings.has(ending);
}

/** Whether what it says names others. */
export function isProgramText(path: string): boolean {
  return isCode(path) && !dataEndings.has(extname(path));
}

export class CodeTree {
  readonly #folders = new Map<string, ReadonlyMap<string, Dirent>>();

  /** Most names are of nothing: a folder is read once, and nothing else is asked. */
  has(path: string): boolean {
    return this.#entries(dirname(path)).has(basename(path));
  }

  #entries(folder: string): ReadonlyMap<string, Dirent> {
    const found = this.#folders.get(folder) ?? entriesOf(folder);
    this.#folders.set(folder, found);
    return found;
  }

  /** By their paths. *Contract:* no more than `most`, and one more where there are more. */
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

/** A folder of the workspace and those above it up to that, the nearest first; none for one outside. */
export function foldersUp(from: string, cwd: string): readonly string[] {
  const folders: string[] = [];
  for (let at = from; isBelow(at, cwd); at = dirname(at)) {
    folders.push(at);
    // Above the root of the machine, which may be the workspace, it begins again.
    if (at === cwd) break;
  }
  return folders;
}

/** Empty where there is none. */
function entriesOf(folder: string): ReadonlyMap<string, Dirent> {
  try {
    return new Map(readdirSync(folder, { withFileTypes: true }).map((entry) => [entry.name, entry]));
  } catch {
    return new Map();
  }
}

/**
 * Undefined where there is no such file; what cannot be read is the same as little as what has changed. What it says is
 * said of the file that was opened, whatever comes to stand in its place.
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
  // To open a pipe without a writer would wait for ever.
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

/** Of a link to a folder: where it leads. */
export function digestOfEntry(path: string): string {
  const digest = digestOfFile(path);
  if (digest !== undefined) return digest;
  try {
    return `leads to ${readlinkSync(path)}`;
  } catch {
    return "gone";
  }
}
