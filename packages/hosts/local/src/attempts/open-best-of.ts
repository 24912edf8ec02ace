/** Opening several attempts at one task: new ones with a copy of the folder each, or those of a session that goes on. */
import { type Attempted, type Failure, failure, isFailure, type Judge } from "@lathe/protocol";
import { newSessionId, type Words } from "@lathe/sessions";
import { sweepAttemptTrees } from "../attempt-trees/attempt-tree.ts";
import type { LocalOptions } from "../local-options.ts";
import { systemClock } from "../machine/system-clock.ts";
import { unknownModel } from "../models/model-gateway.ts";
import type { DirtyChoice } from "../worktrees/worktree.ts";
import { type AttemptsLog, beginAttemptsLog, resumeAttemptsLog } from "./attempts-log.ts";
import { findTestCommand } from "./find-test-command.ts";
import { makePlaces, placeOf } from "./make-places.ts";
import type { Place } from "./place.ts";
import { refusedTests } from "./refused-tests.ts";

export interface BestOfWish {
  readonly count: number;
  /** Absent for tests where a command is known. */
  readonly judge?: Judge;
  /** Absent for what the project's files tell. */
  readonly testCommand?: string;
  /** Models that the attempts have in turn; empty where all have those of the session. */
  readonly models: readonly string[];
  readonly seed?: number;
  readonly apply: boolean;
  readonly keepAll: boolean;
  /** In git working trees, also where there could be forks. */
  readonly worktrees?: boolean;
  /** What becomes of work in no commit where there are working trees; `carry` when absent. */
  readonly dirty?: DirtyChoice;
}

export interface OpenedBestOf {
  readonly log: AttemptsLog;
  readonly places: readonly (Place | undefined)[];
  /** How long it took to make the copies. */
  readonly readyMs: number;
}

/** Words that start this program; what follows them is its command line. */
export type Self = readonly string[];

export async function openBestOf(
  options: LocalOptions,
  words: Words,
  { wish, self }: { readonly wish: BestOfWish; readonly self: Self },
): Promise<OpenedBestOf | Failure> {
  const { cwd, env } = options;
  const chains = wish.models.length > 0 ? wish.models.map((model) => [model]) : [options.models];
  const unknown = (await Promise.all(chains.map((models) => unknownModel({ ...options, models })))).find(
    Boolean,
  );
  if (unknown) return unknown;
  const tests = await allowedTests(options, wish.testCommand ?? (await findTestCommand(cwd, env)));
  if (wish.judge === "tests" && tests.command === undefined) return noTests(tests.refusal);
  const testCommand = tests.command;
  const id = newSessionId(systemClock);
  const maker = { cwd, env, self, about: words.text, session: id };
  const found = await makePlaces(wish, maker, options.onRemark);
  if (isFailure(found)) return found;
  const { made, readyMs } = found;
  const { judge, models, apply, keepAll } = wish;
  const attempts = made.map(({ place }, at): Attempted => {
    const model = models[at % Math.max(1, models.length)];
    return { session: newSessionId(systemClock), place, ...(model !== undefined && { model }) };
  });
  // Where only the attempts were given models, it goes on with those.
  const own = options.models.length > 0 ? options.models : models;
  const log = await beginAttemptsLog({ ...options, models: own }, words, {
    id,
    attempts,
    apply,
    keepAll,
    ...(judge && { judge }),
    seed: wish.seed ?? Math.floor(systemClock.random() * 2 ** 31),
    ...(testCommand !== undefined && { testCommand }),
  });
  const places = made.map(({ open }) => open);
  if (!isFailure(log)) return { log, places, readyMs };
  for (const place of places) await place.drop();
  return log;
}

/** Undefined for a session that goes on like any other. */
export async function reopenBestOf(
  options: LocalOptions,
  id: string,
  self: Self,
): Promise<OpenedBestOf | Failure | undefined> {
  const log = await resumeAttemptsLog(options, id);
  if (log === undefined || isFailure(log)) return log;
  await sweepAttemptTrees(options.env);
  const places = log.attempts.attempts.map(({ place }) => placeOf(place, { env: options.env, self }));
  return { log: await withAllowedTests(log, options), places, readyMs: 0 };
}

/** The mode and the rules of this line hold, whatever those were that it was begun with. */
async function withAllowedTests(log: AttemptsLog, options: LocalOptions): Promise<AttemptsLog> {
  const { testCommand, ...attempts } = log.attempts;
  if (attempts.verdict) return log;
  const { command } = await allowedTests({ ...options, cwd: log.cwd }, testCommand);
  return command === undefined ? { ...log, attempts } : log;
}

interface AllowedTests {
  /** Absent where none is known, or it may not run. */
  readonly command?: string;
  readonly refusal?: string;
}

async function allowedTests(options: LocalOptions, command: string | undefined): Promise<AllowedTests> {
  if (command === undefined) return {};
  const refusal = await refusedTests(options, command);
  if (refusal === undefined) return { command };
  options.onRemark?.(refusal);
  return { refusal };
}

function noTests(refusal: string | undefined): Failure {
  if (refusal !== undefined) {
    return failure("invalid-arguments", `${refusal}; let a model judge with --judge model`, { who: "user" });
  }
  const text =
    "nothing tells how the tests of this project are run; name their command with --test-command CMD, or let a model judge with --judge model";
  return failure("invalid-arguments", text, { who: "user" });
}
