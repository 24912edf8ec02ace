/** Opening several attempts at one task: new ones with a copy of the folder each, or those of a session that goes on. */
import {
  type Attempted,
  type AttemptPlace,
  type Failure,
  failure,
  isFailure,
  type Judge,
} from "@lathe/protocol";
import { forkBinary } from "../forks/fork-binary.ts";
import { findFork, openFork } from "../forks/forks.ts";
import type { LocalOptions } from "../local-options.ts";
import type { Words } from "../local-session.ts";
import { unknownModel } from "../model-gateway.ts";
import { newSessionId } from "../session-id.ts";
import { systemClock } from "../system-clock.ts";
import { type AttemptsLog, beginAttemptsLog, resumeAttemptsLog } from "./attempts-log.ts";
import { findTestCommand } from "./find-test-command.ts";
import { forkPlace } from "./fork-place.ts";
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
  // What the first fork on a machine would wait for is no part of making it.
  const binary = await forkBinary(env);
  if (isFailure(binary)) return binary;
  const from = performance.now();
  const id = newSessionId(systemClock);
  const made = await makePlaces(wish.count, { cwd, env, self, about: words.text, session: id });
  if (isFailure(made)) return made;
  const readyMs = performance.now() - from;
  const { count: _, testCommand: _asked, models, ...rest } = wish;
  const attempts = made.map(({ place }, at): Attempted => {
    const model = models[at % Math.max(1, models.length)];
    return { session: newSessionId(systemClock), place, ...(model !== undefined && { model }) };
  });
  const log = await beginAttemptsLog(options, words, {
    ...rest,
    id,
    attempts,
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

interface Maker {
  readonly cwd: string;
  readonly env: LocalOptions["env"];
  readonly self: Self;
  readonly about: string;
  readonly session: string;
}

interface Made {
  readonly place: AttemptPlace;
  readonly open: Place;
}

/** All or none. */
async function makePlaces(
  count: number,
  { about, session, ...maker }: Maker,
): Promise<readonly Made[] | Failure> {
  const { cwd, env } = maker;
  const made: Made[] = [];
  for (let at = 0; at < count; at++) {
    const fork = await openFork(env, { cwd, about: `attempt ${at + 1}: ${about}`, session });
    if (isFailure(fork)) {
      for (const { open } of made) await open.drop();
      return fork;
    }
    made.push({ place: { type: "fork", id: fork.id }, open: forkPlace(maker, fork) });
  }
  return made;
}

/** Undefined for one that somebody has kept or dropped. */
function placeOf(place: AttemptPlace, maker: Pick<Maker, "env" | "self">): Place | undefined {
  const fork = findFork(maker.env, place.id);
  return isFailure(fork) ? undefined : forkPlace(maker, fork);
}
