/** Copies of a workspace for trying candidates in: installed packages linked, history and caches left out, the rest copied. */

import type { Dirent } from "node:fs";
import { constants, existsSync } from "node:fs";
import { copyFile, lstat, mkdir, readdir, readlink, symlink } from "node:fs/promises";
import { join } from "node:path";

const LEFT_OUT = new Set([
  ".git",
  ".hg",
  ".svn",
  "__pycache__",
  ".pytest_cache",
  ".mypy_cache",
  ".ruff_cache",
  ".nyc_output",
  ".cache",
  ".turbo",
]);
/** Installed by package managers, who can make them again; whatever else a program may write to is copied. */
const LINKED = new Set([".tox", "bower_components", ".yarn"]);
const MODULES = "node_modules";
/** Bytes of the largest file that counts as a source. */
const BIG = 2_000_000;
/** Bytes of a whole copy, at most. */
const MOST = 500_000_000;

/**
 * Copies `root` to `target`; the workspace-relative paths of the copied sources, sorted, or undefined when there is too
 * much to copy. `hidden`: folders, absolute, that commands are not shown, and would be in a copy; and that of the copies.
 */
export async function copyWorkspace(
  root: string,
  target: string,
  hidden: readonly string[] = [],
): Promise<readonly string[] | undefined> {
  const copying: Copying = { root, target, hidden: new Set(hidden), files: [], bytes: 0 };
  await copyFolder(copying, "");
  return copying.bytes > MOST ? undefined : copying.files.sort();
}

interface Copying {
  readonly root: string;
  readonly target: string;
  readonly hidden: ReadonlySet<string>;
  readonly files: string[];
  bytes: number;
}

async function copyFolder(copying: Copying, folder: string): Promise<void> {
  await mkdir(join(copying.target, folder), { recursive: true });
  for (const entry of await readdir(join(copying.root, folder), { withFileTypes: true })) {
    if (LEFT_OUT.has(entry.name)) continue;
    if (copying.bytes > MOST) return;
    await copyEntry(copying, folder === "" ? entry.name : `${folder}/${entry.name}`, entry);
  }
}

async function copyEntry(copying: Copying, path: string, entry: Dirent): Promise<void> {
  const from = join(copying.root, path);
  const to = join(copying.target, path);
  if (entry.isSymbolicLink()) return copyLink(copying, from, to);
  if (entry.isDirectory()) {
    if (copying.hidden.has(from)) return;
    if (entry.name === MODULES) return linkModules(copying, from, to);
    const installed = LINKED.has(entry.name) || existsSync(join(from, "pyvenv.cfg"));
    return installed ? symlink(from, to) : copyFolder(copying, path);
  }
  if (!entry.isFile()) return;
  const { size } = await lstat(from);
  copying.bytes += size;
  if (copying.bytes > MOST) return;
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  if (size <= BIG) copying.files.push(path);
}

/** Links within the workspace lead to the copy. */
async function copyLink({ root, target }: Copying, from: string, to: string): Promise<void> {
  const goal = await readlink(from);
  const isOwn = goal === root || goal.startsWith(`${root}/`);
  await symlink(isOwn ? target + goal.slice(root.length) : goal, to);
}

async function linkModules(copying: Copying, from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, goal] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isSymbolicLink()) await copyLink(copying, source, goal);
    else if (entry.isDirectory() && entry.name.startsWith("@")) await linkModules(copying, source, goal);
    else if (!entry.name.startsWith(".") || entry.name === ".bin") await symlink(source, goal);
  }
}
