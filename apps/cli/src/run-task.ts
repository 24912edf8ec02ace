/** Runs one task in a new session or one that goes on, and shows it in the chosen format. */
import { resumeSession, startSession } from "@lathe/hosts/local";
import { type Failure, isFailure } from "@lathe/protocol";
import { exitCodeOfEnd, exitCodeOfFailure } from "./exit-code.ts";
import { interruptions } from "./interruptions.ts";
import { Questioner } from "./questioner.ts";
import { createReporter } from "./reporters/create-reporter.ts";
import { problemOf } from "./reporters/end-text.ts";
import type { OutputFormat, Reporter, RunResult } from "./reporters/reporter.ts";
import { type AgentOptions, usage } from "./run-options.ts";
import { problemLine } from "./show-failure.ts";

export interface Task {
  readonly format: OutputFormat;
  /** Absent for the usual one of the format. */
  readonly reporter?: Reporter;
  /** Absent only when a session goes on without new words. */
  readonly task?: string;
  /** The session to go on with. */
  readonly session?: string;
}

type LocalSession = Exclude<Awaited<ReturnType<typeof startSession>>, Failure>;

/** The exit code of a run, and the session it leaves. */
export interface Ran {
  readonly code: number;
  readonly session: string;
}

/** A failure when no session could be opened; every other problem is told here and is in the code. */
export async function runTask(options: AgentOptions, task: Task): Promise<Ran | Failure> {
  const startedAt = performance.now();
  const attended = task.format === "text" && process.stdin.isTTY === true && process.stdout.isTTY === true;
  const reporter = task.reporter ?? createReporter(task.format);
  const questioner = attended ? new Questioner() : undefined;
  const session = await openSession(options, { task, attended, reporter, questioner });
  if (isFailure(session)) return session;
  const { cwd, mode } = options;
  for (const repair of session.repairs) process.stderr.write(problemLine(repair));
  reporter.start({ session: session.id, models: session.models, mode, cwd });
  const stop = interruptions(session);
  questioner?.attach(session);
  // A new session has heard its task already.
  const ended = await session.run(task.session === undefined ? undefined : task.task);
  questioner?.close();
  const failed = isFailure(ended) ? { failure: ended } : {};
  const result = { session: session.session(), ms: performance.now() - startedAt, ...failed };
  reporter.end(result);
  await session.close();
  stop();
  return { code: explained(result), session: session.id };
}

interface Opening {
  readonly task: Task;
  readonly attended: boolean;
  readonly reporter: Reporter;
  readonly questioner: Questioner | undefined;
}

async function openSession(options: AgentOptions, opening: Opening): Promise<LocalSession | Failure> {
  const { task, attended, reporter, questioner } = opening;
  const local = {
    ...options,
    attended,
    onEvent: (...heard: Parameters<Reporter["event"]>) => {
      reporter.event(...heard);
      questioner?.event(heard[0]);
    },
    onDelta: reporter.delta.bind(reporter),
  };
  if (task.session === undefined) return startSession(local, task.task ?? "");
  const session = await resumeSession(local, task.session);
  if (isFailure(session) || task.task !== undefined || (await session.hasWork())) return session;
  await session.close();
  return usage(`session ${session.id} has nothing left to do; say what it should do next`);
}

/** The exit code; why it is not 0 goes to stderr. */
function explained({ session, failure }: RunResult): number {
  if (failure) {
    process.stderr.write(problemLine(failure.text));
    return exitCodeOfFailure(failure);
  }
  const end = session.lastEnd ?? { type: "done" };
  const problem = problemOf(end);
  if (problem !== undefined) process.stderr.write(problemLine(problem));
  return exitCodeOfEnd(end);
}
