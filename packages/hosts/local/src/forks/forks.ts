/** Forks of this user on this machine: made, found, compared, kept and dropped. */

import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Difference, differencesOf, enterArgs, holdFork } from "@lathe/overlays";
import {
  dropFork as dropForkFolder,
  type Fork,
  listForks as listForkFolders,
  makeFork,
  sweepForks,
} from "@lathe/overlays/fork";
import { forkRefusal, placeRefusal } from "@lathe/overlays/fork-refusal";
import { heldBack } from "@lathe/overlays/held-back";
import { diskFailure, type Failure, type ForkLayers, failure, fold, isFailure } from "@lathe/protocol";
import { newSessionId } from "@lathe/sessions";
import { type Env, homeFolder } from "@lathe/system";
import type { Recovery } from "@lathe/workspace";
import { openState } from "../history/state.ts";
import { systemClock } from "../machine/system-clock.ts";
import { forksFolder, workspaceFolder } from "../places/state-folder.ts";
import { isOwnChange, ownChange } from "../rules/own-places.ts";
import { recoveryText } from "../session/recovery-text.ts";
import { forkBinary } from "./fork-binary.ts";
import { runLaterDifferences } from "./run-later-differences.ts";

export type { Difference, Side } from "@lathe/overlays";
export type { Fork } from "@lathe/overlays/fork";

export interface NewFork {
  /** Real path of the folder. */
  readonly cwd: string;
  readonly about: string;
  /** Whose attempt is to work in it: until those are settled it stays, empty or not. */
  readonly session?: string;
}

/** *Contract:* `sandbox-unavailable` where no fork could be opened; `invalid-arguments` for a folder that can have none. */
export async function openFork(env: Env, { cwd, ...more }: NewFork): Promise<Fork | Failure> {
  if (env.LATHE_FORK) {
    const text = `this runs in the fork ${env.LATHE_FORK}: a fork of a fork could be kept nowhere; leave out --fork`;
    return failure("invalid-arguments", text, { who: "user" });
  }
  const binary = await forkBinary(env);
  if (isFailure(binary)) return binary;
  const forks = forksFolder(env);
  const refused = forkRefusal(cwd, { forks, home: homeFolder(env) });
  if (refused) return refused;
  try {
    sweepForks(forks);
    mkdirSync(forks, { recursive: true, mode: 0o700 });
    return placeRefusal(forks) ?? makeFork(cwd, { folder: forks, id: newSessionId(systemClock), ...more });
  } catch (cause) {
    const failed = diskFailure(cause, `no fork can be made in ${forks}`);
    return { ...failed, text: `${failed.text}; set XDG_STATE_HOME to a folder that can be written` };
  }
}

export interface EnteringFork {
  /** Its absolute path, then its arguments. */
  readonly program: readonly string[];
  /** Others over the same base. */
  readonly layers?: ForkLayers;
  /** When this process ends it is asked to end, too: it tidies up by itself. */
  readonly isAsked?: boolean;
}

/** What to start, and the words for it: the program sees the fork in place of its base. */
export async function enteringFork(
  env: Env,
  fork: Fork,
  entering: EnteringFork,
): Promise<readonly [string, ...string[]] | Failure> {
  const binary = await forkBinary(env);
  return isFailure(binary) ? binary : enterArgs(fork, { binary, cwd: fork.base, ...entering });
}

export interface Compared {
  readonly differences: readonly Difference[];
  /** Why some of them are not kept unless that is asked for, by path. */
  readonly held: ReadonlyMap<string, string>;
  /** Why programs on this machine or later sessions run or follow some of them, by path. */
  readonly runLater: ReadonlyMap<string, string>;
}

/** Also of a fork that is open. */
export async function compareFork(env: Env, fork: Fork): Promise<Compared | Failure> {
  const binary = await forkBinary(env);
  if (isFailure(binary)) return binary;
  const differences = await differencesOf(binary, fork);
  if (isFailure(differences)) return differences;
  const runLater = runLaterDifferences(differences, fork);
  const isOwn = isOwnChange(env, fork.base);
  const own = differences.filter(({ path }) => isOwn(Buffer.from(path, "latin1").toString()));
  const held = [...heldBack(differences, fork), ...own.map(({ path }) => [path, ownChange] as const)];
  return { differences, held: new Map(held), runLater };
}

export interface ListedFork {
  readonly fork: Fork;
  readonly isOpen: boolean;
  readonly differences: number;
}

/** The oldest first. What dead processes left in which nothing was changed is removed on the way. */
export async function listForks(env: Env): Promise<readonly ListedFork[] | Failure> {
  const forks = forksFolder(env);
  sweepForks(forks);
  const found = listForkFolders(forks);
  if (found.length === 0) return [];
  const binary = await forkBinary(env);
  if (isFailure(binary)) return binary;
  const listed: ListedFork[] = [];
  for (const fork of found) {
    const hold = await holdFork(binary, fork, { withBase: false });
    const differences = await differencesOf(binary, fork);
    const count = isFailure(differences) ? 1 : differences.length;
    const isOpen = isFailure(hold);
    // One that was made a moment ago may be about to be entered.
    const isNew = Date.now() - fork.madeAt < newMs;
    const isLeft = !isOpen && count === 0 && !isNew && !(await isWaitedFor(env, fork));
    if (isLeft) dropForkFolder(fork);
    else listed.push({ fork, isOpen, differences: count });
    if (!isFailure(hold)) await hold.release();
  }
  return listed;
}

const newMs = 60_000;

/** An attempt that waits for its turn has changed nothing yet. */
async function isWaitedFor(env: Env, { session }: Fork): Promise<boolean> {
  if (session === undefined) return false;
  const events = await openState(env).store.read(session);
  if (isFailure(events)) return false;
  const { attempts } = fold(events);
  return attempts !== undefined && !attempts.settled;
}

/** The oldest first, without a look into them. */
export function allForks(env: Env): readonly Fork[] {
  return listForkFolders(forksFolder(env));
}

/** From the start of its id or all of it; undefined where there is none. */
export function findFork(env: Env, start: string): Fork | Failure | undefined {
  const all = allForks(env);
  const exact = all.find(({ id }) => id === start);
  const found = exact ? [exact] : all.filter(({ id }) => id.startsWith(start));
  if (found.length < 2) return found[0];
  const text = `${found.length} forks begin with "${start}"; \`lathe fork list\` shows them`;
  return failure("invalid-arguments", text, { who: "user" });
}

/** *Contract:* a failure while it is open. */
export async function dropFork(env: Env, fork: Fork): Promise<Failure | undefined> {
  const binary = await forkBinary(env);
  if (isFailure(binary)) return binary;
  const hold = await holdFork(binary, fork, { withBase: false });
  if (isFailure(hold)) return hold;
  const failed = dropForkFolder(fork);
  await hold.release();
  return failed;
}

/** What a process that died had left half done in a folder is put back; of a fork from within. */
export async function mendFolder(
  env: Env,
  cwd: string,
  onRecovered: (recovery: Recovery) => void = () => undefined,
): Promise<void> {
  const { createWorkspace } = await import("@lathe/workspace");
  const workspace = createWorkspace({ root: cwd, journal: workspaceFolder(env, cwd), onRecovered });
  // The first reading does it.
  await workspace.list(".");
  await workspace.close();
}

/**
 * What died in the middle of taking changes over into a folder; a folder that is gone has nothing to mend.
 * *Contract:* a failure where not all could be put back: what is to be compared with it, or is a copy of it, may be needed still.
 */
export async function mendBase(
  env: Env,
  base: string,
  onRemark: (text: string) => void,
): Promise<Failure | undefined> {
  // In a fork its base is not the folder that this path leads to.
  if (env.LATHE_FORK || !existsSync(base)) return undefined;
  const found: Recovery[] = [];
  await mendFolder(env, base, (recovery) => found.push(recovery));
  for (const recovery of found) onRemark(recoveryText(recovery));
  if (found.every(({ left, failed }) => left.length + failed.length === 0)) return undefined;
  const text = `not all of what was cut off in ${base} could be put back: look at it first, then try again`;
  return failure("stale-version", text, { who: "user" });
}

/** Whether a session in it died in the middle of a change, so that it has to be entered and put right. */
export function isCutOff({ folder }: Fork): boolean {
  try {
    return readdirSync(join(folder, "journal")).length > 0;
  } catch {
    return false;
  }
}
