/**
 * Judged starts: a command whose verdict depended on files starts only while these are as they were judged.
 *
 * The files are compared at the last moment and not covered by read-only copies. A mount over a file does not stop anyone who
 * lives in another mount namespace: a rename over the file takes the mount away under the command (tried on Linux 6.18),
 * and each other command of the session has a namespace of its own. It would stop honest work, too: `npm install`,
 * formatters, `git checkout` and scripts that update themselves could not replace what they were started from.
 *
 * So that nobody changes a file between the comparison and the moment the command reads it, all other commands in the
 * same workspace stand still from before the comparison until the command has ended, or has run for `settleMs`. A file that is
 * read later than that may have been changed meanwhile: policy counts it as undecided while other commands run. So may
 * one be that the command changes itself, or that a process outside of Lathe changes.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Failure, failure, type JudgedFiles, maxJudgedBytes } from "@lathe/protocol";
import { readFileText } from "@lathe/system";
import { isBelow } from "@lathe/system/paths";
import type { Running } from "./processes/running.ts";

/** Programs have read their script by then: npm takes 200 ms to find what it runs. */
const settleMs = 500;

interface Known {
  readonly workspace: string;
  /** How many starts want it to stand still. */
  held: number;
}

/** Commands of all sandboxes in this process: a subagent has a sandbox of its own in the same workspace. */
const commands = new Map<Running, Known>();
/** Starts that are under way, and starts that others must not run beside yet, each with its workspace. */
const starting = new Map<Promise<unknown>, string>();
const settling = new Map<Promise<void>, string>();

export interface Starting {
  readonly workspace: string;
  /** Absent where nothing was judged: then this is a start, which waits for no more than other starts to settle. */
  readonly judged: JudgedFiles | undefined;
}

/** *Contract:* a failure where a file is not as it was judged; then `start` was not called. Throws what `start` throws. */
export async function startCommand(
  { workspace, judged }: Starting,
  start: () => Promise<Running>,
): Promise<Running | Failure> {
  if (judged) return startJudged(judged, workspace, start);
  for (let before = within(settling, workspace); before.length > 0; before = within(settling, workspace))
    await Promise.all(before);
  // Nothing is waited for from here on until others know of this start.
  return noted(start(), workspace);
}

async function noted(started: Promise<Running>, workspace: string): Promise<Running> {
  starting.set(started, workspace);
  try {
    const running = await started;
    commands.set(running, { workspace, held: 0 });
    void running.exited.then(() => commands.delete(running));
    return running;
  } finally {
    starting.delete(started);
  }
}

/**
 * Keeps every command in a workspace still, and new ones from starting, while something outside of the sandbox is compared
 * with what a person agreed to and begins.
 * *Contract:* never rejects; `release` is called once, and soon.
 */
export async function holdCommands(workspace: string): Promise<() => void> {
  for (let before = within(settling, workspace); before.length > 0; before = within(settling, workspace))
    await Promise.all(before);
  const { promise, resolve } = Promise.withResolvers<void>();
  settling.set(promise, workspace);
  await Promise.allSettled(within(starting, workspace));
  const release = await holdOthers(workspace);
  return () => {
    release();
    settling.delete(promise);
    resolve();
  };
}

async function startJudged(
  judged: JudgedFiles,
  workspace: string,
  start: () => Promise<Running>,
): Promise<Running | Failure> {
  const end = await holdCommands(workspace);
  try {
    const changed = changedFiles(judged);
    if (changed.length > 0) {
      end();
      return staleFailure(changed);
    }
    const running = await noted(start(), workspace);
    const settled = running.started().then(() => sleep(settleMs));
    void Promise.race([running.exited, settled]).then(end);
    return running;
  } catch (error) {
    end();
    throw error;
  }
}

function within<T>(all: ReadonlyMap<T, string>, workspace: string): readonly T[] {
  return all.size === 0 ? [] : [...all].flatMap(([one, other]) => (meet(workspace, other) ? [one] : []));
}

function changedFiles(judged: JudgedFiles): readonly string[] {
  return Object.entries(judged).flatMap(([path, digest]) =>
    (readFileText(path, maxJudgedBytes)?.digest ?? null) === digest ? [] : [path],
  );
}

function staleFailure(paths: readonly string[]): Failure {
  const text = `${paths.join(", ")} changed after the command was judged, so it was not started; call it again to have it judged as it is now`;
  return failure("stale-version", text);
}

/** A terminal is a person's: the shell in it would take a stop for its own. */
async function holdOthers(workspace: string): Promise<() => void> {
  const others = [...commands].filter(
    ([{ exit, command }, known]) => !exit && !command.terminal && meet(workspace, known.workspace),
  );
  await Promise.all(
    others.map(([running, known]) => {
      known.held++;
      return known.held === 1 ? running.pause() : undefined;
    }),
  );
  return () => {
    for (const [running, known] of others) {
      known.held--;
      if (known.held === 0 && !running.exit) running.resume();
    }
  };
}

function meet(one: string, other: string): boolean {
  return isBelow(one, other) || isBelow(other, one);
}
