/** A hash of everything that would be lost with a working tree. */
import { createHash, type Hash } from "node:crypto";
import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { readHead, readRef } from "@lathe/system/git";
import { addContentOf } from "./add-content.ts";
import { changedTracked, comparedWithOwn, namesIn } from "./changed-files.ts";
import type { GitBox } from "./git/git-box.ts";

export interface Tree {
  readonly path: string;
  readonly branch: string;
  /** The git folder of this working tree. */
  readonly gitFolder: string;
  readonly common: string;
}

export interface TreeState {
  readonly hash: string;
}

/**
 * Hashes the commits the tree is and was on, its index, and the content of every file that differs. Uncommitted files,
 * ignored ones, submodules and nested repositories count by size and time.
 */
export async function treeState(box: GitBox, tree: Tree): Promise<TreeState | Failure> {
  const { path, branch, gitFolder, common } = tree;
  try {
    const { commit } = readHead({ gitFolder, common }) ?? {};
    if (commit === undefined) return failure("no-access", `${path} is on no commit`, { who: "user" });
    const compared = comparedWithOwn(box, { top: path, gitFolder, common }, commit);
    const run = { workTree: path, index: compared.index };
    const [changed, index, others] = await Promise.all([
      changedTracked(box, compared),
      box.git(["ls-files", "-z", "-s", "-v"], run),
      box.git(["ls-files", "-z", "-o", "--directory"], run),
    ]);
    if (isFailure(changed)) return changed;
    if (isFailure(index)) return index;
    if (isFailure(others)) return others;
    const commits = `${commit}\n${readRef(common, `refs/heads/${branch}`) ?? ""}`;
    return hashOf(tree, { commits, changed, index, others });
  } catch (cause) {
    return failure("no-access", `${path} cannot be read: ${String(cause)}`, { who: "host", cause });
  }
}

interface Listed {
  readonly commits: string;
  readonly changed: readonly string[];
  readonly index: string;
  readonly others: string;
}

function hashOf({ path, gitFolder }: Tree, { commits, changed, index, others }: Listed): TreeState {
  const entries = namesIn(index);
  const submodules = entries.filter((entry) => /^\S 160000 /.test(entry)).map(nameOf);
  const untracked = namesIn(others);
  const hash = createHash("sha256").update(commits).update(index);
  for (const name of changed) addContent(hash, below(path, name));
  const looked = [...untracked, ...submodules, ...foldersOf(entries).map((folder) => `${folder}.git`)];
  for (const name of looked) addEntries(hash, below(path, name.replace(/\/$/, "")));
  for (const name of ["modules", "logs/HEAD"]) addEntries(hash, below(gitFolder, name));
  return { hash: hash.digest("hex") };
}

function nameOf(entry: string): string {
  return entry.slice(entry.indexOf("\t") + 1);
}

/** Folders of tracked files, with a slash: each may have been made a repository. */
function foldersOf(entries: readonly string[]): readonly string[] {
  const folders = new Set<string>();
  for (const entry of entries) {
    let end = nameOf(entry).lastIndexOf("/");
    while (end > 0 && !folders.has(nameOf(entry).slice(0, end + 1))) {
      folders.add(nameOf(entry).slice(0, end + 1));
      end = nameOf(entry).lastIndexOf("/", end - 1);
    }
  }
  return [...folders];
}

/** As bytes, since a name need not be UTF-8. */
function below(folder: string, name: string): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, "latin1")]);
}

function addContent(hash: Hash, path: Buffer): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  hash.update("\0").update(path).update("\0");
  if (stats?.isSymbolicLink()) hash.update(readlinkSync(path));
  else if (stats?.isFile()) {
    hash.update(`${stats.mode}`);
    addContentOf(hash, path);
  } else hash.update(stats ? "other" : "gone");
}

/** A hash over the sizes and times of all entries, so that two copies differ. Throws file system errors. */
export function entriesHash(path: Buffer): string {
  const hash = createHash("sha256");
  addEntries(hash, path);
  return hash.digest("hex");
}

/** A folder counts by its entries, a file by its size and its times of modification and change. */
function addEntries(hash: Hash, path: Buffer): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return;
  const { mode, size, mtimeMs, ctimeMs } = stats;
  hash.update("\0").update(path).update(`\0${mode}`);
  if (!stats.isDirectory()) {
    hash.update(` ${size} ${mtimeMs} ${ctimeMs}`);
    return;
  }
  for (const name of readdirSync(path, { encoding: "latin1" }).sort()) {
    addEntries(hash, Buffer.concat([path, Buffer.from(`/${name}`, "latin1")]));
  }
}
