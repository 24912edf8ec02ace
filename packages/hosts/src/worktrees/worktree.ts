/** A working tree of its own for one session: made on a branch of its own, with the work that is in no commit, kept if anything changed. */
import { existsSync, mkdirSync, realpathSync, rmdirSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { diskFailure } from "@lathe/stores/disk-failure";
import { systemClock } from "../machine/system-clock.ts";
import { newSessionId } from "../session-id.ts";
import { carryFiles } from "./carry-files.ts";
import { changedFiles, namesIn } from "./changed-files.ts";
import { forgetTree, isRepositoryLeft } from "./forget-tree.ts";
import { gitIn } from "./git-in.ts";
import { keptPlaces, withoutKept } from "./kept-places.ts";
import { makeFolders } from "./real-folders.ts";
import { beginLeaving, joinTree, markMade, stay } from "./tree-marks.ts";
import { treeState } from "./tree-state.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** What becomes of work in the folder that is in no commit. */
export const dirtyChoices = ["carry", "leave", "refuse"] as const;
export type DirtyChoice = (typeof dirtyChoices)[number];

export interface WorktreeWish {
  /** Real path in the repository. */
  readonly cwd: string;
  /** Absent for a new one; one that is there is gone on with. */
  readonly name?: string;
  /** Absent for what is checked out in the folder. */
  readonly base?: string;
  /** `carry` when absent, `leave` with a base. */
  readonly dirty?: DirtyChoice;
  /** Who asked for it removes it: it is not looked at whether anything changes in it, which takes long where there are many files. */
  readonly isKept?: true;
}

export interface Worktree {
  readonly path: string;
  readonly branch: string;
  /** Where the session works: the same place in it as the folder has in its repository. */
  readonly cwd: string;
  /** Files whose changes were taken along, as git names them: of one character per byte. */
  readonly carried: readonly string[];
  /** Those whose changes were not. */
  readonly left: readonly string[];
  /** Folders of submodules: git leaves them empty, and commits nothing of what is put there. */
  readonly submodules: readonly string[];
  readonly isNew: boolean;
  /** What git keeps about it. */
  readonly gitFolder: string;
  /** *Contract:* removes it with its branch where nothing has changed in it; whether it is still there. */
  settle(): Promise<boolean | Failure>;
}

/** Where one of that name would lie. */
export async function worktreePath(
  env: Env,
  { cwd, name }: { readonly cwd: string; readonly name: string },
): Promise<{ readonly top: string; readonly path: string; readonly branch: string } | Failure> {
  const top = await topOf(cwd, env);
  if (isFailure(top)) return top;
  return { top, path: join(dirname(top), `${basename(top)}.worktrees`, name), branch: `lathe/${name}` };
}

/** *Contract:* undefined where all that is in the folder is committed. */
export async function refusedDirty(env: Env, cwd: string): Promise<Failure | undefined> {
  const top = await topOf(cwd, env);
  if (isFailure(top)) return top;
  const found = await changedFiles(top, env);
  if (isFailure(found)) return found;
  const { length } = withoutKept(keptPlaces(env, top), top, found);
  return length > 0 ? refuseDirty(top, length) : undefined;
}

/** *Contract:* with its branch and all that is in it; whatever of it is there, best to worst. */
export async function removeWorktree(
  env: Env,
  place: Pick<Place, "top" | "path" | "branch">,
): Promise<Failure | undefined> {
  return remove({ ...place, env }, "force");
}

/** *Contract:* the folder, its index and its branch stay as they are; all or nothing is left. */
export async function openWorktree(env: Env, wish: WorktreeWish): Promise<Worktree | Failure> {
  const name = wish.name ?? newSessionId(systemClock);
  if (!isName.test(name) || name.includes("..") || name.endsWith(".lock")) return wrongName(name);
  const found = await worktreePath(env, { cwd: wish.cwd, name });
  if (isFailure(found)) return found;
  const place = { env, ...found };
  const known = await isKnown(place);
  if (isFailure(known)) return known;
  const base = await commitOf(wish.base ?? "HEAD", place);
  if (isFailure(base)) return base;
  if (known) return goOn(place, wish);
  const made = await make({ ...place, base }, wish);
  if (isFailure(made)) return made;
  const begun = await begin(place, wish, made);
  return isFailure(begun) ? ((await remove(place, "force")) ?? begun) : begun;
}

const isName = /^[A-Za-z0-9][\w.-]{0,63}$/;

function wrongName(name: string): Failure {
  const text = `"${name}" is no name for a working tree: letters, digits, ".", "_" and "-", at most 64`;
  return failure("invalid-arguments", text, { who: "user" });
}

interface Place {
  readonly env: Env;
  /** The folder of the repository's working tree that the session was asked for in. */
  readonly top: string;
  readonly path: string;
  readonly branch: string;
}

async function topOf(cwd: string, env: Env): Promise<string | Failure> {
  const found = await gitIn(cwd, ["rev-parse", "--show-toplevel"], env);
  if (!isFailure(found)) return realpathSync(Buffer.from(found.trimEnd(), "latin1").toString());
  const text = `${cwd} is in no git repository, so there can be no working tree of it; make one with \`git init\`, or use --fork`;
  return failure("invalid-arguments", text, { who: "user", cause: found.cause });
}

async function commitOf(ref: string, { top, env }: Place): Promise<string | Failure> {
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`];
  const found = await gitIn(top, args, env);
  if (!isFailure(found)) return found.trim();
  const text =
    ref === "HEAD" ? `${top} has no commit yet: make one first` : `there is no commit ${ref} in ${top}`;
  return failure("invalid-arguments", text, { who: "user" });
}

/** A working tree of this repository on the branch that belongs to it; a failure where something else is in the way. */
async function isKnown({ top, path, branch, env }: Place): Promise<boolean | Failure> {
  const listed = await gitIn(top, ["worktree", "list", "--porcelain", "-z"], env);
  if (isFailure(listed)) return listed;
  const entries = Buffer.from(listed, "latin1").toString().split("\0\0");
  const own = entries.find((entry) => entry.split("\0").includes(`worktree ${path}`));
  if (own && existsSync(path)) {
    if (own.split("\0").includes(`branch refs/heads/${branch}`)) return true;
    return inTheWay(`${path} is on another branch than ${branch}`);
  }
  if (existsSync(path)) return inTheWay(`${path} is there already, and is no working tree of ${top}`);
  const taken = await gitIn(top, ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`], env);
  return isFailure(taken) ? false : inTheWay(`the branch ${branch} is there already`);
}

function inTheWay(what: string): Failure {
  return failure("invalid-arguments", `${what}; choose another name: --worktree=NAME`, { who: "user" });
}

/** In one that is there: others may be at work in it, so it stays. */
async function goOn(place: Place, wish: WorktreeWish): Promise<Worktree | Failure> {
  const { path, branch } = place;
  if (wish.base !== undefined || wish.dirty !== undefined) {
    const text = `${path} is there already and is gone on with: leave out --base and --dirty`;
    return failure("invalid-arguments", text, { who: "user" });
  }
  const gitFolder = await gitFolderOf(place);
  if (isFailure(gitFolder)) return gitFolder;
  if (!joinTree(gitFolder)) return notWhole(place);
  const cwd = cwdIn(place, wish);
  if (isFailure(cwd)) return cwd;
  const submodules = await submodulesIn(place);
  if (isFailure(submodules)) return submodules;
  return {
    path,
    branch,
    cwd,
    carried: [],
    left: [],
    submodules,
    isNew: false,
    gitFolder,
    settle: async () => true,
  };
}

function notWhole({ path, branch }: Place): Failure {
  return inTheWay(
    `${path} is being made or removed by another session, or one was cut off while it did (then: git worktree remove --force ${path}; git branch -D ${branch})`,
  );
}

/** In one that was made just now, and is whole from here on. */
async function begin(place: Place, wish: WorktreeWish, work: Work): Promise<Worktree | Failure> {
  const { path, branch } = place;
  const gitFolder = await gitFolderOf(place);
  if (isFailure(gitFolder)) return gitFolder;
  const cwd = cwdIn(place, wish);
  if (isFailure(cwd)) return cwd;
  const submodules = await submodulesIn(place);
  if (isFailure(submodules)) return submodules;
  const settle = wish.isKept ? async () => true : await settling(place, gitFolder);
  if (isFailure(settle)) return settle;
  if (!markMade(gitFolder)) {
    return failure("no-access", `${gitFolder} cannot be written`, { who: "host" });
  }
  return { path, branch, cwd, ...work, submodules, isNew: true, gitFolder, settle };
}

async function submodulesIn({ path, env }: Place): Promise<readonly string[] | Failure> {
  const listed = await gitIn(path, ["ls-files", "-z", "-s"], env);
  if (isFailure(listed)) return listed;
  const entries = namesIn(listed).filter((entry) => entry.startsWith("160000 "));
  return entries.map((entry) => entry.slice(entry.indexOf("\t") + 1));
}

/** Knows it as it is now. */
async function settling(place: Place, gitFolder: string): Promise<Worktree["settle"] | Failure> {
  const { path, branch, env } = place;
  const tree = { env, path, branch, gitFolder };
  const before = await treeState(tree);
  if (isFailure(before)) return before;
  const hasChanged = async (): Promise<boolean> => {
    const state = await treeState(tree);
    return isFailure(state) || state.hash !== before.hash;
  };
  return async () => {
    if ((await hasChanged()) || !beginLeaving(gitFolder)) return true;
    // Another session may have joined, worked and ended since the first look; none can from here on.
    const left = (await hasChanged()) || (await remove(place, before.isClean ? "ask" : "force"));
    if (left) stay(gitFolder);
    return left ?? false;
  };
}

/** Only that of this repository: what a file in the working tree says may have been written by anybody. */
async function gitFolderOf({ top, path, env }: Place): Promise<string | Failure> {
  const own = await gitIn(path, ["rev-parse", "--absolute-git-dir"], env);
  if (isFailure(own)) return own;
  const common = await gitIn(top, ["rev-parse", "--git-common-dir"], env);
  if (isFailure(common)) return common;
  const [folder, around] = [own, common].map((printed) =>
    realpathSync(resolve(top, Buffer.from(printed.trimEnd(), "latin1").toString())),
  );
  if (folder !== undefined && around !== undefined && dirname(folder) === join(around, "worktrees")) {
    return folder;
  }
  return inTheWay(`${path} is no working tree of ${top}`);
}

/** The folder the session was asked for in may be another thing in the commit, or be there no more. */
function cwdIn({ top, path }: Place, { cwd }: WorktreeWish): string | Failure {
  const below = relative(top, cwd);
  try {
    makeFolders(path, Buffer.from(below).toString("latin1").split(sep).filter(Boolean));
    return join(path, below);
  } catch (cause) {
    const text = `there is no folder ${below} to work in, in ${path}: ${String(cause)}`;
    return failure("invalid-arguments", text, { who: "user", cause });
  }
}

interface NewPlace extends Place {
  readonly base: string;
}

/** What became of the changed files. */
type Work = Pick<Worktree, "carried" | "left">;

async function make(place: NewPlace, wish: WorktreeWish): Promise<Work | Failure> {
  const { top, path, branch, base, env } = place;
  const dirty = wish.dirty ?? (wish.base === undefined ? "carry" : "leave");
  const found = await changedFiles(top, env);
  if (isFailure(found)) return found;
  const kept = keptPlaces(env, top);
  const changed = withoutKept(kept, top, found);
  if (changed.length > 0 && dirty === "refuse") return refuseDirty(top, changed.length);
  const head = await commitOf("HEAD", place);
  if (isFailure(head)) return head;
  if (changed.length > 0 && dirty === "carry" && head !== base) return notCarried(top);
  // Of two sessions that make the same one, only one has made the branch; the other leaves all as it is.
  const named = await gitIn(top, ["branch", "--quiet", "--no-track", branch, base], env);
  if (isFailure(named)) return named;
  mkdirSync(dirname(path), { recursive: true });
  const added = await gitIn(top, ["worktree", "add", "--quiet", path, branch], env);
  if (isFailure(added)) return (await removeBranch(place)) ?? added;
  if (dirty !== "carry") return { carried: [], left: changed };
  try {
    carryFiles({ top, path, files: changed, kept });
    return { carried: changed, left: [] };
  } catch (cause) {
    return (await remove(place, "force")) ?? diskFailure(cause, `the changes of ${top} could not be carried`);
  }
}

function refuseDirty(top: string, count: number): Failure {
  const text = `${top} has ${count} changed ${count === 1 ? "file" : "files"} that are in no commit: commit them, or take them along with --dirty carry`;
  return failure("invalid-arguments", text, { who: "user" });
}

function notCarried(top: string): Failure {
  const text = `changes of ${top} that are in no commit can only be carried to what is checked out there: leave out --base, or use --dirty leave`;
  return failure("invalid-arguments", text, { who: "user" });
}

/** With its branch. Asked and not forced, git refuses where it knows of work in it. */
async function remove(place: Place, how: "ask" | "force"): Promise<Failure | undefined> {
  const { top, path, env } = place;
  if (how === "ask" && existsSync(path)) {
    const removed = await gitIn(top, ["worktree", "remove", path], env);
    return isFailure(removed) ? removed : removeBranch(place);
  }
  const failed = await forgetTree(env, place);
  if (failed) return failed;
  if (isRepositoryLeft(top)) return removeBranch(place);
  removeEmpty(dirname(path));
  return undefined;
}

/** And the folder around the working trees where that is empty. */
async function removeBranch({ top, path, branch, env }: Place): Promise<Failure | undefined> {
  const exists = await gitIn(top, ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`], env);
  if (!isFailure(exists)) {
    const gone = await gitIn(top, ["branch", "--quiet", "-D", branch], env);
    if (isFailure(gone)) return gone;
  }
  removeEmpty(dirname(path));
  return undefined;
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // There are others in it.
  }
}
