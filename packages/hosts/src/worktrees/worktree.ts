/** A working tree of its own for one session: made on a branch of its own, with the work that is in no commit, kept if anything changed. */
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { newSessionId } from "../session-id.ts";
import { systemClock } from "../system-clock.ts";
import { gitIn } from "./git-in.ts";

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
}

export interface Worktree {
  readonly path: string;
  readonly branch: string;
  /** Where the session works: the same place in it as the folder has in its repository. */
  readonly cwd: string;
  /** Files whose changes were taken along. */
  readonly carried: number;
  readonly isNew: boolean;
  /** *Contract:* removes it with its branch where nothing has changed in it; whether it is still there. */
  settle(): Promise<boolean | Failure>;
}

/** *Contract:* the folder, its index and its branch stay as they are; all or nothing is left. */
export async function openWorktree(env: Env, wish: WorktreeWish): Promise<Worktree | Failure> {
  const name = wish.name ?? newSessionId(systemClock);
  if (!isName.test(name) || name.includes("..") || name.endsWith(".lock")) return wrongName(name);
  const top = await topOf(wish.cwd, env);
  if (isFailure(top)) return top;
  const path = join(dirname(top), `${basename(top)}.worktrees`, name);
  const place = { env, top, path, branch: `lathe/${name}` };
  const known = await isKnown(place);
  if (isFailure(known)) return known;
  const base = await commitOf(wish.base ?? "HEAD", place);
  if (isFailure(base)) return base;
  const made = known ? reuse(wish, path) : await make({ ...place, base }, wish);
  if (isFailure(made)) return made;
  const cwd = join(path, relative(top, wish.cwd));
  if (!existsSync(cwd)) mkdirSync(cwd, { recursive: true });
  const before = await stateOf(place);
  if (isFailure(before)) return before;
  const settle = async (): Promise<boolean | Failure> => {
    if (known || (await stateOf(place)) !== before) return true;
    return (await remove(place)) ?? false;
  };
  return { path, branch: place.branch, cwd, carried: made, isNew: !known, settle };
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

function reuse({ base, dirty }: WorktreeWish, path: string): number | Failure {
  if (base === undefined && dirty === undefined) return 0;
  const text = `${path} is there already and is gone on with: leave out --base and --dirty`;
  return failure("invalid-arguments", text, { who: "user" });
}

interface NewPlace extends Place {
  readonly base: string;
}

/** Resolves with how many changed files came along. */
async function make(place: NewPlace, wish: WorktreeWish): Promise<number | Failure> {
  const { top, path, branch, base, env } = place;
  const dirty = wish.dirty ?? (wish.base === undefined ? "carry" : "leave");
  const changed = await changedIn(place);
  if (isFailure(changed)) return changed;
  if (changed.length > 0 && dirty === "refuse") return refuseDirty(top, changed.length);
  const head = await commitOf("HEAD", place);
  if (isFailure(head)) return head;
  if (changed.length > 0 && dirty === "carry" && head !== base) return notCarried(top);
  mkdirSync(dirname(path), { recursive: true });
  const added = await gitIn(top, ["worktree", "add", "--quiet", "-b", branch, path, base], env);
  if (isFailure(added)) return (await remove(place)) ?? added;
  if (dirty !== "carry") return 0;
  try {
    for (const file of changed) carry(top, path, file);
    return changed.length;
  } catch (cause) {
    const text = `the changes of ${top} could not be carried: ${String(cause)}`;
    return (await remove(place)) ?? failure("no-access", text, { who: "host", cause });
  }
}

/** Of one character per byte; what git ignores is not among them. */
async function changedIn({ top, env }: Place): Promise<readonly string[] | Failure> {
  const tracked = await gitIn(
    top,
    ["diff", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=all", "HEAD"],
    env,
  );
  if (isFailure(tracked)) return tracked;
  const untracked = await gitIn(top, ["ls-files", "-z", "-o", "--exclude-standard"], env);
  if (isFailure(untracked)) return untracked;
  return [...new Set(`${tracked}${untracked}`.split("\0").filter(Boolean))];
}

/** Byte for byte: what a patch would make of it is not asked. */
function carry(top: string, path: string, file: string): void {
  const name = Buffer.from(file, "latin1").toString();
  const [from, to] = [join(top, name), join(path, name)];
  const stats = lstatSync(from, { throwIfNoEntry: false });
  rmSync(to, { recursive: true, force: true });
  if (!stats) return;
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
}

function refuseDirty(top: string, count: number): Failure {
  const text = `${top} has ${count} changed ${count === 1 ? "file" : "files"} that are in no commit: commit them, or take them along with --dirty carry`;
  return failure("invalid-arguments", text, { who: "user" });
}

function notCarried(top: string): Failure {
  const text = `changes of ${top} that are in no commit can only be carried to what is checked out there: leave out --base, or use --dirty leave`;
  return failure("invalid-arguments", text, { who: "user" });
}

/** The commit it is on, and every file that differs from it, with what is in it. */
async function stateOf(place: Place): Promise<string | Failure> {
  const own = { ...place, top: place.path };
  const head = await gitIn(place.path, ["rev-parse", "HEAD"], place.env);
  if (isFailure(head)) return head;
  const changed = await changedIn(own);
  if (isFailure(changed)) return changed;
  const branches = await gitIn(
    place.path,
    ["rev-parse", "--verify", "--quiet", `refs/heads/${place.branch}`],
    place.env,
  );
  const hash = createHash("sha256")
    .update(head)
    .update(isFailure(branches) ? "" : branches);
  for (const file of changed) hash.update(`\0${file}\0`).update(contentOf(join(place.path, nameOf(file))));
  return hash.digest("hex");
}

function nameOf(file: string): string {
  return Buffer.from(file, "latin1").toString();
}

function contentOf(path: string): Buffer | string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) return readlinkSync(path);
  return stats?.isFile() ? readFileSync(path) : `${stats ? "other" : "gone"}`;
}

/** With its branch, and the folder around it where that is empty. */
async function remove({ top, path, branch, env }: Place): Promise<Failure | undefined> {
  if (existsSync(path)) {
    const removed = await gitIn(top, ["worktree", "remove", "--force", path], env);
    if (isFailure(removed)) return removed;
  }
  const exists = await gitIn(top, ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`], env);
  if (!isFailure(exists)) {
    const gone = await gitIn(top, ["branch", "--quiet", "-D", branch], env);
    if (isFailure(gone)) return gone;
  }
  try {
    rmdirSync(dirname(path));
  } catch {
    // There are others in it.
  }
  return undefined;
}
