/** Making the places of attempts: forks where the folder can have some, git working trees elsewhere. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { type AttemptPlace, type Failure, failure, isFailure } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import { attemptTrees, makeAttemptTree } from "../attempt-trees/attempt-tree.ts";
import { forkBinary } from "../forks/fork-binary.ts";
import { findFork, openFork } from "../forks/forks.ts";
import { systemClock } from "../machine/system-clock.ts";
import { type Unfiltered, unfilteredText } from "../worktrees/check-out.ts";
import { type DirtyChoice, refusedDirty } from "../worktrees/worktree.ts";
import { forkPlace } from "./fork-place.ts";
import type { Place } from "./place.ts";
import { worktreePlace } from "./worktree-place.ts";

export interface Maker {
  readonly cwd: string;
  readonly env: Env;
  /** Words that start this program. */
  readonly self: readonly string[];
  readonly about: string;
  readonly session: string;
}

export interface PlacesWish {
  readonly count: number;
  readonly worktrees?: boolean;
  readonly dirty?: DirtyChoice;
}

export interface Made {
  readonly place: AttemptPlace;
  readonly open: Place;
  /** Submodules whose folders are empty there, as git names them. */
  readonly without?: readonly string[];
  /** Files there that no filter was run for. */
  readonly unfiltered?: readonly Unfiltered[];
}

export interface MadePlaces {
  readonly made: readonly Made[];
  readonly readyMs: number;
}

/** *Contract:* all or none; remarks why there are no forks where working trees were made. */
export async function makePlaces(
  wish: PlacesWish,
  maker: Maker,
  onRemark?: (text: string) => void,
): Promise<MadePlaces | Failure> {
  const { env, cwd } = maker;
  // A fork has all that is in the folder.
  const isLeft = wish.dirty === "leave" && !env.LATHE_FORK;
  if (isLeft && !wish.worktrees) onRemark?.(withoutWork);
  const isWanted = isLeft || (wish.worktrees === true && !env.LATHE_FORK);
  // What the first fork on a machine waits for is no part of making it.
  const binary = isWanted ? undefined : await forkBinary(env);
  const from = performance.now();
  const timed = (made: readonly Made[] | Failure): MadePlaces | Failure =>
    isFailure(made) ? made : { made, readyMs: performance.now() - from };
  const inTrees = async (): Promise<MadePlaces | Failure> => {
    const made = timed(await makeTrees(wish, maker));
    const [{ without = [], unfiltered = [] } = {}] = isFailure(made) ? [] : made.made;
    if (without.length > 0) onRemark?.(`submodules are not in the working trees: ${namesText(without)}`);
    for (const one of unfiltered) onRemark?.(unfilteredText(one));
    return made;
  };
  if (binary === undefined) return inTrees();
  const refused = wish.dirty === "refuse" ? await refusedDirty(env, cwd) : undefined;
  if (refused) return refused;
  const forks = isFailure(binary) ? binary : await makeForks(wish.count, maker);
  if (!isFailure(forks)) return timed(forks);
  // What a fork has in place of the repository has no room for working trees beside it.
  if (env.LATHE_FORK) return forks;
  const made = await inTrees();
  if (isFailure(made)) return neither(forks, made);
  onRemark?.(`the attempts work in git working trees, without what git ignores: ${forks.text}`);
  return made;
}

function namesText(names: readonly string[]): string {
  return names.map((name) => Buffer.from(name, "latin1").toString()).join(", ");
}

const withoutWork =
  "the attempts work in git working trees, without what is in no commit and what git ignores";

function neither(without: Failure, made: Failure): Failure {
  const text = `there is no place for attempts. Not in forks: ${without.text}. Not in git working trees: ${made.text}`;
  return failure(made.code, text, { who: "user", cause: made });
}

async function all(
  count: number,
  make: (at: number) => Promise<Made | Failure>,
): Promise<readonly Made[] | Failure> {
  const made: Made[] = [];
  for (let at = 0; at < count; at++) {
    const one = await make(at);
    if (isFailure(one)) {
      for (const { open } of made) await open.drop();
      return one;
    }
    made.push(one);
  }
  return made;
}

/** Of working trees that are made at once: each is a program that mostly waits for the disk. */
const maxAtOnce = 4;

/** As `all`. */
async function sideBySide(
  count: number,
  make: (at: number) => Promise<Made | Failure>,
): Promise<readonly Made[] | Failure> {
  const results: (Made | Failure)[] = [];
  const left = Array.from({ length: count }, (_, at) => at);
  const work = async (): Promise<void> => {
    for (let at = left.shift(); at !== undefined; at = left.shift()) {
      const one = await make(at);
      results[at] = one;
      if (isFailure(one)) left.length = 0;
    }
  };
  await Promise.all(Array.from({ length: maxAtOnce }, work));
  const failed = results.find((one) => isFailure(one));
  const made = results.flatMap((one) => (isFailure(one) ? [] : [one]));
  if (!failed) return made;
  for (const { open } of made) await open.drop();
  return failed;
}

const run = promisify(execFile);
const patienceMs = 10_000;

/** One of them is entered: a kernel may refuse what its launcher can do. */
async function makeForks(count: number, maker: Maker): Promise<readonly Made[] | Failure> {
  const made = await all(count, (at) => makeFork(at, maker));
  const [first] = isFailure(made) ? [] : made;
  const refused = first && (await entered(first.open));
  if (isFailure(made) || !refused) return made;
  for (const { open } of made) await open.drop();
  return refused;
}

async function entered(place: Place): Promise<Failure | undefined> {
  const entrance = await place.enter(["/bin/sh", "-c", ":"]);
  if (isFailure(entrance)) return entrance;
  const [file, ...args] = entrance.words;
  try {
    await run(file, args, { cwd: entrance.cwd, timeout: patienceMs });
    return undefined;
  } catch (cause) {
    const { stderr = "" } = cause as { readonly stderr?: string };
    const why = stderr.trim().split("\n").at(-1) || String(cause);
    return failure("sandbox-unavailable", `a fork could not be entered: ${why}`, { who: "host", cause });
  }
}

async function makeFork(at: number, maker: Maker): Promise<Made | Failure> {
  const { cwd, env, about, session } = maker;
  const fork = await openFork(env, { cwd, about: `attempt ${at + 1}: ${about}`, session });
  return isFailure(fork) ? fork : { place: { type: "fork", id: fork.id }, open: forkPlace(maker, fork) };
}

function makeTrees({ count, dirty }: PlacesWish, maker: Maker): Promise<readonly Made[] | Failure> {
  const { cwd, env, about, session } = maker;
  const from = systemClock.now();
  return sideBySide(count, async (at) => {
    const wish = { cwd, about: `attempt ${at + 1}: ${about}`, session, madeAt: from + at };
    const tree = await makeAttemptTree(env, { ...wish, ...(dirty && { dirty }) });
    if (isFailure(tree)) return tree;
    const { submodules: without = [], unfiltered = [] } = tree.made;
    const place = { type: "worktree", id: tree.id } as const;
    return { place, open: worktreePlace(env, tree), without, unfiltered };
  });
}

/** Undefined for one that somebody has kept or dropped. */
export function placeOf(place: AttemptPlace, maker: Pick<Maker, "env" | "self">): Place | undefined {
  const { env } = maker;
  if (place.type === "worktree") {
    const tree = attemptTrees(env).find(({ id }) => id === place.id);
    return tree?.made && worktreePlace(env, { ...tree, made: tree.made });
  }
  const fork = findFork(env, place.id);
  return !fork || isFailure(fork) ? undefined : forkPlace(maker, fork);
}
