/** All that would be lost with a working tree, as one hash. */
import { createHash, type Hash } from "node:crypto";
import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { addContentOf } from "./add-content.ts";
import { changedTracked, namesIn } from "./changed-files.ts";
import { gitIn } from "./git-in.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface Tree {
  readonly env: Env;
  readonly path: string;
  readonly branch: string;
  /** What git keeps about this working tree. */
  readonly gitFolder: string;
}

export interface TreeState {
  readonly hash: string;
  /** Nothing but the files of its commit is in it, so git removes it without being forced. */
  readonly isClean: boolean;
}

/**
 * The commits it is and was on, its index, every file that differs, with what is in it, and by size and time everything
 * that is in no commit: also what git ignores, submodules, and repositories of their own.
 */
export async function treeState(tree: Tree): Promise<TreeState | Failure> {
  const { path, env, branch } = tree;
  const head = await gitIn(path, ["rev-parse", "HEAD"], env);
  if (isFailure(head)) return head;
  const tip = await gitIn(path, ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`], env);
  const changed = await changedTracked(path, env);
  if (isFailure(changed)) return changed;
  const index = await gitIn(path, ["ls-files", "-z", "-s", "-v"], env);
  if (isFailure(index)) return index;
  const others = await gitIn(path, ["ls-files", "-z", "-o", "--directory"], env);
  if (isFailure(others)) return others;
  try {
    return hashOf(tree, { commits: `${head}${isFailure(tip) ? "" : tip}`, changed, index, others });
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
  return { hash: hash.digest("hex"), isClean: changed.length + untracked.length + submodules.length === 0 };
}

function nameOf(entry: string): string {
  return entry.slice(entry.indexOf("\t") + 1);
}

/** Those below the root that hold tracked files, with a slash: each may have been made a repository. */
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

/** Of all that is there, by its times: two copies of the same differ. Throws what the disk says. */
export function entriesHash(path: Buffer): string {
  const hash = createHash("sha256");
  addEntries(hash, path);
  return hash.digest("hex");
}

/** A folder counts by what is in it; a file by its size and the times of its content and of its entry. */
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
