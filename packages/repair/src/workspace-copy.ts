/** Copies of a workspace for trying candidates in: sources copied, heavy folders linked, history left out. */

import type { Dirent } from "node:fs";
import { constants } from "node:fs";
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
const LINKED = new Set([
  ".venv",
  "venv",
  "env",
  ".tox",
  "bower_components",
  "vendor",
  "target",
  ".next",
  ".yarn",
]);
const MODULES = "node_modules";
const BIG = 2_000_000;

/** Copies `root` to `target`; returns the workspace-relative paths of the copied files, sorted. */
export async function copyWorkspace(root: string, target: string): Promise<readonly string[]> {
  const files: string[] = [];
  await copyFolder({ root, target, files }, "");
  return files.sort();
}

interface Copying {
  readonly root: string;
  readonly target: string;
  readonly files: string[];
}

async function copyFolder(copying: Copying, folder: string): Promise<void> {
  await mkdir(join(copying.target, folder), { recursive: true });
  for (const entry of await readdir(join(copying.root, folder), { withFileTypes: true })) {
    if (LEFT_OUT.has(entry.name)) continue;
    await copyEntry(copying, folder === "" ? entry.name : `${folder}/${entry.name}`, entry);
  }
}

async function copyEntry(copying: Copying, path: string, entry: Dirent): Promise<void> {
  const from = join(copying.root, path);
  const to = join(copying.target, path);
  if (entry.isSymbolicLink()) return copyLink(from, to);
  if (entry.isDirectory()) {
    if (entry.name === MODULES) return linkModules(from, to);
    return LINKED.has(entry.name) ? symlink(from, to) : copyFolder(copying, path);
  }
  if (!entry.isFile()) return;
  if ((await lstat(from)).size > BIG) return symlink(from, to);
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  copying.files.push(path);
}

/** A relative link is kept, so that links between workspace packages lead to the copy. */
async function copyLink(from: string, to: string): Promise<void> {
  const goal = await readlink(from);
  await symlink(goal, to);
}

async function linkModules(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, goal] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isSymbolicLink()) await copyLink(source, goal);
    else if (entry.isDirectory() && entry.name.startsWith("@")) await linkModules(source, goal);
    else await symlink(source, goal);
  }
}
