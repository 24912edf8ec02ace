/** Opens several attempts at one task: new ones, each with a copy of the folder, or resumed ones. */
import { type Attempted, type Failure, failure, isFailure, type Judge } from "@lathe/protocol";
import { newSessionId, type SessionOptions, type Words } from "@lathe/sessions";
import type { AttemptHost, DirtyChoice, ProjectTests } from "./attempt-host.ts";
import { type AttemptsLog, beginAttemptsLog, resumeAttemptsLog } from "./attempts-log.ts";
import { makePlaces } from "./make-places.ts";
import type { Place } from "./place.ts";

export interface BestOfWish {
  readonly count: number;
  /** Absent: judge by tests if their command is known, else by a model. */
  readonly judge?: Judge;
  /** Absent: found from the project's files. */
  readonly testCommand?: string;
  /** Models that the attempts use in turn; empty if all use the session's. */
  readonly models: readonly string[];
  readonly seed?: number;
  readonly apply: boolean;
  readonly keepAll: boolean;
  /** Use git working trees even if forks are possible. */
  readonly worktrees?: boolean;
  /** How git working trees treat uncommitted changes; `carry` if absent. */
  readonly dirty?: DirtyChoice;
}

export interface OpenedBestOf {
  readonly log: AttemptsLog;
  readonly places: readonly (Place | undefined)[];
  /** How long it took to make the copies. */
  readonly readyMs: number;
}

export async function openBestOf(
  host: AttemptHost,
  options: SessionOptions,
  { words, wish }: { readonly words: Words; readonly wish: BestOfWish },
): Promise<OpenedBestOf | Failure> {
  const { cwd, clock } = host.sessions;
  const { judge, models, apply, keepAll, worktrees = false, dirty, count } = wish;
  const chains = models.length > 0 ? models.map((model) => [model]) : [options.models];
  const unknown = (await Promise.all(chains.map(host.unknownModel))).find(Boolean);
  if (unknown) return unknown;
  const known = wish.testCommand ?? (await host.tests.find(cwd));
  const tests = await allowedTests(host.tests, { cwd, command: known }, options);
  if (judge === "tests" && tests.command === undefined) return noTests(tests.refusal);
  const id = newSessionId(clock);
  const wanted = { count, worktrees, cwd, about: words.text, session: id, ...(dirty && { dirty }) };
  const found = await makePlaces(host.places, wanted, options.onRemark);
  if (isFailure(found)) return found;
  const { made, readyMs } = found;
  const attempts = made.map(({ place }, at): Attempted => {
    const model = models[at % Math.max(1, models.length)];
    return { session: newSessionId(clock), place, ...(model !== undefined && { model }) };
  });
  // If only the attempts were given models, the session continues with those.
  const own = options.models.length > 0 ? options.models : models;
  const log = await beginAttemptsLog(
    host,
    { ...options, models: own },
    {
      id,
      words,
      attempts,
      apply,
      keepAll,
      ...(judge && { judge }),
      seed: wish.seed ?? Math.floor(clock.random() * 2 ** 31),
      ...(tests.command !== undefined && { testCommand: tests.command }),
    },
  );
  const places = made.map(({ open }) => open);
  if (!isFailure(log)) return { log, places, readyMs };
  for (const place of places) await place.drop();
  return log;
}

/** Undefined for a session without open attempts. */
export async function reopenBestOf(
  host: AttemptHost,
  options: SessionOptions,
  id: string,
): Promise<OpenedBestOf | Failure | undefined> {
  const log = await resumeAttemptsLog(host.sessions, options, id);
  if (log === undefined || isFailure(log)) return log;
  await host.places.sweep();
  const places = log.attempts.attempts.map(({ place }) => host.places.find(place));
  return { log: await withAllowedTests(log, host.tests, options), places, readyMs: 0 };
}

/** Applies the current mode and rules, not those from when the session began. */
async function withAllowedTests(
  log: AttemptsLog,
  tests: ProjectTests,
  options: SessionOptions,
): Promise<AttemptsLog> {
  const { testCommand, ...attempts } = log.attempts;
  if (attempts.verdict) return log;
  const { command } = await allowedTests(tests, { cwd: log.cwd, command: testCommand }, options);
  return command === undefined ? { ...log, attempts } : log;
}

interface AllowedTests {
  /** Absent if no command is known, or it may not run. */
  readonly command?: string;
  readonly refusal?: string;
}

async function allowedTests(
  tests: ProjectTests,
  { cwd, command }: { readonly cwd: string; readonly command: string | undefined },
  { onRemark }: Pick<SessionOptions, "onRemark">,
): Promise<AllowedTests> {
  if (command === undefined) return {};
  const refusal = await tests.refusal(cwd, command);
  if (refusal === undefined) return { command };
  onRemark?.(refusal);
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
