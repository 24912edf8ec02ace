/** Attempt trees: git working trees in which attempts work where a folder can have no fork; each is known from before it is made until it is gone. */
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { diskFailure, type Failure, failure, isFailure } from "@lathe/protocol";
import { ownMark, type ProcessMark, writeWhole } from "@lathe/system";
import { readHead } from "@lathe/system/git";
import type { Unfiltered } from "../check-out.ts";
import { commonFolder, forgetTree } from "../forget-tree.ts";
import { removeTree as removeWorktree } from "../remove-tree.ts";
import type { AttemptTreesHost } from "../trees-host.ts";
import { type DirtyChoice, openWorktree, worktreePath } from "../worktree.ts";
import { fileState, submoduleState } from "./file-state.ts";

export interface AttemptTree {
  /** Also the name of the working tree. */
  readonly id: string;
  /** Real path of the folder whose copy it is, and of the repository's working tree that holds it. */
  readonly base: string;
  readonly top: string;
  readonly path: string;
  readonly branch: string;
  readonly madeAt: number;
  /** Absent in what an older version made. */
  readonly maker?: ProcessMark;
  /** What it was made for. */
  readonly about: string;
  /** Whose attempt is to work in it. */
  readonly session: string;
  /** Absent until it is whole. */
  readonly made?: {
    /** The folder in it that stands for `base`. */
    readonly cwd: string;
    readonly gitFolder: string;
    readonly commit: string;
    /** What was in no commit when it was made, by path: of one character per byte, as git names it. */
    readonly carried: Readonly<Record<string, string>>;
    /** What was in no commit and did not come along. */
    readonly left?: readonly string[];
    /** Their folders are empty. */
    readonly submodules?: readonly string[];
    /** Files that are as their commit has them, since no filter was run. */
    readonly unfiltered?: readonly Unfiltered[];
  };
}

export type WholeTree = AttemptTree & Required<Pick<AttemptTree, "made">>;

export interface NewAttemptTree {
  readonly cwd: string;
  readonly about: string;
  readonly session: string;
  readonly dirty?: DirtyChoice;
  /** Now when absent; of several that are made at once it tells their order. */
  readonly madeAt?: number;
}

/** *Contract:* as `openWorktree`: all or nothing is left, and what a death left is listed. */
export async function makeAttemptTree(
  host: AttemptTreesHost,
  wish: NewAttemptTree,
): Promise<WholeTree | Failure> {
  const { cwd, about, session, dirty = "carry", madeAt = host.clock.now() } = wish;
  const id = host.newId();
  const place = worktreePath({ cwd, name: id });
  if (isFailure(place)) return place;
  const tree: AttemptTree = {
    id,
    base: cwd,
    ...place,
    madeAt,
    maker: ownMark(),
    about,
    session,
  };
  const unkept = keepRecord(host, tree);
  if (unkept) return unkept;
  const made = await makeTree(host, tree, dirty);
  if (!isFailure(made)) return made;
  return (await dropAttemptTree(host, tree)) ?? made;
}

async function makeTree(
  host: AttemptTreesHost,
  tree: AttemptTree,
  dirty: DirtyChoice,
): Promise<WholeTree | Failure> {
  const opened = await openWorktree(host, { cwd: tree.base, name: tree.id, dirty, isKept: true });
  if (isFailure(opened)) return opened;
  const { cwd, path, gitFolder, carried: changed, left, submodules, unfiltered } = opened;
  const common = commonFolder(tree.top);
  const commit = common && readHead({ gitFolder, common })?.commit;
  if (commit === undefined) return failure("no-access", `${path} is on no commit`, { who: "host" });
  try {
    const carried = Object.fromEntries([
      ...changed.map((name) => [name, fileState(path, name)]),
      ...submodules.map((name) => [name, submoduleState(path, name)]),
    ]);
    keepIndex(host, { id: tree.id, gitFolder });
    const whole: WholeTree = {
      ...tree,
      made: { cwd, gitFolder, commit, carried, left, submodules, unfiltered },
    };
    return keepRecord(host, whole) ?? whole;
  } catch (cause) {
    return failure("no-access", `${path} cannot be read: ${String(cause)}`, { who: "host", cause });
  }
}

/** As it was written when the tree was made, in one piece. Throws what the disk says. */
function keepIndex(
  host: AttemptTreesHost,
  { id, gitFolder }: Pick<AttemptTree, "id"> & { readonly gitFolder: string },
): void {
  const [own, index] = [join(gitFolder, "index"), indexOf(host, id)];
  copyFileSync(own, index);
  // Git trusts the times of no file that was written as late as its index: with a later one a change could go unseen.
  const { atime, mtime } = statSync(own);
  utimesSync(index, atime, mtime);
}

/**
 * *Contract:* with its branch, its tests' copy and all that is in it; while nobody works in it. It is known to nobody from
 * the start: what is half removed must not be taken for what the attempt has made of it.
 */
export async function dropAttemptTree(
  host: AttemptTreesHost,
  tree: AttemptTree,
): Promise<Failure | undefined> {
  try {
    renameSync(recordOf(host, tree.id), goneRecordOf(host, tree.id));
  } catch (cause) {
    // Another process drops it, or one that died did.
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") return unwritable(recordsFolder(host), cause);
  }
  return removeTree(host, tree);
}

/** Goes on with removals that were cut short; best effort. */
export async function sweepAttemptTrees(host: AttemptTreesHost): Promise<void> {
  for (const tree of recordsIn(host, goneName)) await removeTree(host, tree);
}

async function removeTree(host: AttemptTreesHost, tree: AttemptTree): Promise<Failure | undefined> {
  const failed = dropTestsTree(tree) ?? (await removeWorktree(tree));
  if (failed) return failed;
  // Nothing works there any more that could be half done.
  if (tree.made) rmSync(host.journal(tree.made.cwd), { recursive: true, force: true });
  rmSync(indexOf(host, tree.id), { force: true });
  rmSync(goneRecordOf(host, tree.id), { force: true });
  return undefined;
}

/** Beside it, on no branch. */
export function testsPath({ path }: AttemptTree): string {
  return `${path}.tests`;
}

export function dropTestsTree(tree: AttemptTree): Failure | undefined {
  const path = testsPath(tree);
  const known = tree.made && `${tree.made.gitFolder}.tests`;
  if (!existsSync(path) && !(known !== undefined && existsSync(known))) return undefined;
  return forgetTree({ top: tree.top, path });
}

/** The oldest first; without those that are being removed. */
export function attemptTrees(host: AttemptTreesHost): readonly AttemptTree[] {
  return recordsIn(host, recordName).toSorted((a, b) => a.madeAt - b.madeAt || (a.id < b.id ? -1 : 1));
}

function recordsFolder(host: AttemptTreesHost): string {
  return join(host.state, "attempt-trees");
}

const recordName = ".json";
/** Of one that is being removed. */
const goneName = ".gone";

function recordOf(host: AttemptTreesHost, id: string): string {
  return join(recordsFolder(host), `${id}${recordName}`);
}

function goneRecordOf(host: AttemptTreesHost, id: string): string {
  return join(recordsFolder(host), `${id}${goneName}`);
}

/** What git took for checked out when the tree was made: the tree's own index is the attempt's to write in. */
export function indexOf(host: AttemptTreesHost, id: string): string {
  return join(recordsFolder(host), `${id}.index`);
}

function recordsIn(host: AttemptTreesHost, ending: string): readonly AttemptTree[] {
  const folder = recordsFolder(host);
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(ending));
    return names.flatMap((name) => readRecord(join(folder, name)) ?? []);
  } catch {
    return [];
  }
}

function readRecord(path: string): AttemptTree | undefined {
  try {
    const { v, ...tree } = JSON.parse(readFileSync(path, "utf8")) as AttemptTree & { readonly v: unknown };
    return v === 1 ? tree : undefined;
  } catch {
    return undefined;
  }
}

function keepRecord(host: AttemptTreesHost, tree: AttemptTree): Failure | undefined {
  const path = recordOf(host, tree.id);
  try {
    writeWhole(path, JSON.stringify({ v: 1, ...tree }), { isDurable: true });
    return undefined;
  } catch (cause) {
    return unwritable(path, cause);
  }
}

function unwritable(path: string, cause: unknown): Failure {
  return diskFailure(cause, `${path} cannot be written`);
}
