/** Keeping a fork: what it differs in goes to its base, all or none. */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Difference, differencesOf, holdFork } from "@lathe/overlays";
import { dropFork, type Fork } from "@lathe/overlays/fork";
import { heldBack } from "@lathe/overlays/held-back";
import { diskFailure, type Failure, failure, isFailure } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import { applyTree, type FoundPart, type TreePart } from "@lathe/workspace/apply-tree";
import { workspaceFolder } from "../places/state-folder.ts";
import { isOwnChange, ownChange } from "../rules/own-places.ts";
import { recoveryText } from "../session/recovery-text.ts";
import { forkBinary } from "./fork-binary.ts";
import { runLaterDifferences } from "./run-later-differences.ts";

export interface KeepOptions {
  /** Also what programs on the host would obey by themselves. */
  readonly hostRun: boolean;
  /** Also over what has changed in the base since the fork was made. */
  readonly force: boolean;
  /** Heard until the first change is made; from then on it comes to its end. */
  readonly signal?: AbortSignal;
  onRemark?(text: string): void;
}

export interface Kept {
  readonly kept: readonly Difference[];
  /** What stays in the fork, which stays for its sake; why, by path. */
  readonly held: ReadonlyMap<string, string>;
  /** Of that, what stays whatever is asked for: it can only be copied. */
  readonly stuck: ReadonlySet<string>;
  /** Where it lies. */
  readonly from: string;
  /** Why programs on this machine or later sessions run or follow some of what was kept, by path. */
  readonly runLater: ReadonlyMap<string, string>;
}

/**
 * *Contract:* all or none, also when the process dies in between; once nothing is held back the fork is gone.
 * `stale-version` naming what has changed in the base since; a failure while this fork or another one of the base is open.
 */
export async function keepFork(env: Env, fork: Fork, options: KeepOptions): Promise<Kept | Failure> {
  const binary = await forkBinary(env);
  if (isFailure(binary)) return binary;
  // To change what lies below an open one is undefined.
  const hold = await holdFork(binary, fork, { withBase: true });
  if (isFailure(hold)) return hold;
  try {
    return await keep({ env, binary, fork, options });
  } finally {
    await hold.release();
  }
}

interface Keeping {
  readonly env: Env;
  readonly binary: string;
  readonly fork: Fork;
  readonly options: KeepOptions;
}

async function keep({ env, binary, fork, options }: Keeping): Promise<Kept | Failure> {
  if (existsSync(join(fork.base, ".git", "index.lock"))) return gitAtWork(fork);
  let all: readonly Difference[] = [];
  let held: ReadonlyMap<string, string> = new Map();
  let runLater: ReadonlyMap<string, string> = new Map();
  const known = readPlan(fork);
  const compare = (): ReturnType<typeof differencesOf> => differencesOf(binary, fork);
  const failed = await applyTree({
    root: fork.base,
    journal: workspaceFolder(env, fork.base),
    onRecovered: (recovery) => options.onRemark?.(recoveryText(recovery)),
    parts: async () => {
      const found = await compare();
      if (options.signal?.aborted) return interrupted();
      if (isFailure(found)) return found;
      all = found;
      held = heldOf(all, fork, { ...options, env });
      const taken = all.filter(({ path }) => !held.has(path));
      runLater = runLaterDifferences(taken, fork);
      return taken.map((one) => partOf(one, fork));
    },
    accept: async (found) => {
      const again = await compare();
      if (options.signal?.aborted) return interrupted();
      if (isFailure(again)) return again;
      // Somebody is at work in the base this moment.
      if (JSON.stringify(again) !== JSON.stringify(all)) return refused([], fork);
      const moved = options.force ? [] : movedPaths(all, found, known);
      return moved.length > 0 ? refused(moved, fork) : writePlan(fork, known, found);
    },
  });
  if (failed) return failed;
  const lasting = held.size === 0 ? dropFork(fork) : undefined;
  if (lasting) options.onRemark?.(lasting.text);
  const stuck = new Set(heldOf(all, fork, { hostRun: true, env }).keys());
  return { kept: all.filter(({ path }) => !held.has(path)), held, stuck, from: fork.upper, runLater };
}

/** With all that is below of what is held. */
function heldOf(
  all: readonly Difference[],
  fork: Fork,
  { hostRun, env }: Pick<KeepOptions, "hostRun"> & Pick<Keeping, "env">,
): ReadonlyMap<string, string> {
  const held = new Map(hostRun ? [] : heldBack(all, fork));
  const isOwn = isOwnChange(env, fork.base);
  for (const { path, fork: side } of all) {
    if (side.kind === "other") held.set(path, "a pipe, a socket or a device");
    if (isOwn(Buffer.from(path, "latin1").toString())) held.set(path, ownChange);
  }
  for (const { path } of all) {
    const above = [...held].find(([one]) => path.startsWith(`${one}/`));
    if (above && !held.has(path)) held.set(path, above[1]);
  }
  return held;
}

function partOf({ path, what, fork: side }: Difference, fork: Fork): TreePart {
  const from = `${Buffer.from(fork.upper).toString("latin1")}/${path}`;
  const { kind, mode } = side;
  if (kind === "absent") return { path, after: { type: "absent" } };
  if (kind === "folder") return { path, after: { type: "folder", mode: mode & 0o777 } };
  if (kind === "link") return { path, after: { type: "link", from } };
  if (what === "mode") return { path, after: { type: "mode", mode: mode & 0o777 } };
  return { path, after: { type: "file", from, mode: mode & 0o777 } };
}

/** But for what an earlier try had found and put back, and what is there already. */
function movedPaths(
  all: readonly Difference[],
  found: readonly FoundPart[],
  known: ReadonlyMap<string, string>,
): readonly string[] {
  const moved = new Set(all.filter(({ isMoved }) => isMoved).map(({ path }) => path));
  const changed = found.filter(
    ({ path, now, wanted }) => moved.has(path) && now !== wanted && known.get(path) !== now,
  );
  return changed.map(({ path }) => Buffer.from(path, "latin1").toString());
}

const pathsNamed = 20;

function refused(moved: readonly string[], { base, id }: Fork): Failure {
  if (moved.length === 0) {
    const text = `Nothing was changed: somebody changes ${base} at this moment; try again`;
    return failure("stale-version", text, { who: "host", retry: "same" });
  }
  const more = moved.length > pathsNamed ? ` and ${moved.length - pathsNamed} more` : "";
  const names = moved.slice(0, pathsNamed).join(", ") + more;
  const text = `Nothing was changed: these have changed in ${base} since the fork ${id} was made: ${names}. Look at both, then \`lathe fork keep ${id} --force\` writes over them, or \`lathe fork drop ${id}\``;
  return failure("stale-version", text, { who: "user" });
}

/** A comparison that was interrupted, too, says nothing of its own. */
export function interrupted(): Failure {
  return failure("cancelled", "Nothing was changed: it was interrupted", { who: "user" });
}

function gitAtWork({ base }: Fork): Failure {
  const text = `Nothing was changed: git is at work in ${base} (.git/index.lock); try again when it has ended`;
  return failure("no-access", text, { who: "host", retry: "same" });
}

const planName = "plan.json";

/** What a try was to write over: once it is put back after a crash, its times tell that it has changed. */
function readPlan({ folder }: Fork): ReadonlyMap<string, string> {
  try {
    return new Map(JSON.parse(readFileSync(join(folder, planName), "utf8")) as [string, string][]);
  } catch {
    // There was none, or it was cut off before anything was changed.
    return new Map();
  }
}

function writePlan(
  fork: Fork,
  known: ReadonlyMap<string, string>,
  found: readonly FoundPart[],
): Failure | undefined {
  const plan = new Map([...known, ...found.map(({ path, now }) => [path, now] as const)]);
  try {
    const file = openSync(join(fork.folder, planName), "w", 0o600);
    writeFileSync(file, JSON.stringify([...plan]));
    fsyncSync(file);
    closeSync(file);
    return undefined;
  } catch (cause) {
    return diskFailure(cause, `Nothing was changed, as ${fork.folder} cannot be written`);
  }
}
