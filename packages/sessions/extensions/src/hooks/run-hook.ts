/** Runs one hook in the session's sandbox: what it is told on its input, and what its exit and output say. */
import { isFailure, type JudgedFiles, type Process, type Sandbox } from "@lathe/protocol";
import { readHookOutput } from "./hook-output.ts";
import type { Hook } from "./hook-settings.ts";

/** What a hook said; `problem`: it did not do its work, which stops nothing. */
export interface HookSaid {
  /** Exit code 2: what happens is not to happen, and why. */
  readonly blocks?: string;
  /** In its standard output; empty where that holds none. */
  readonly json: Readonly<Record<string, unknown>>;
  /** Its standard output where that is words. */
  readonly text: string;
  readonly problem?: string;
  /** It said something that nobody can read: it may have been a denial. */
  readonly isUnread?: boolean;
}

/** Bytes of output that are read. */
const mostOutput = 2 ** 20;
/** Characters of words, which a model gets. */
const mostText = 64 * 1024;

export interface HookRun {
  readonly sandbox: Sandbox;
  readonly cwd: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The files that hooks of the project were trusted with. */
  readonly judged?: JudgedFiles | undefined;
  readonly signal?: AbortSignal;
}

export async function runHook(
  { command, timeoutMs, isProjects }: Hook,
  { sandbox, cwd, input, judged = {}, signal }: HookRun,
): Promise<HookSaid> {
  const script = `export CLAUDE_PROJECT_DIR=${quoted(cwd)}\n${command}`;
  const isJudged = isProjects && Object.keys(judged).length > 0;
  const started = await sandbox.spawn({ script, cwd, apart: true, ...(isJudged && { judged }) });
  if (isFailure(started)) return unsaid(started.text);
  // It need not read any of it.
  void started.write(JSON.stringify(input)).then(() => started.closeInput());
  const stop = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
  const end = await ended(started, stop);
  if (!end) return unsaid(`it was stopped after ${timeoutMs / 1000} s`);
  const out = await started.read(0, mostOutput);
  const { text: errors } = await started.readErrors(0, mostText);
  return saidOf(end.code, out, errors);
}

async function ended(process: Process, stop: AbortSignal): Promise<Process["exit"] | undefined> {
  const stopped = Promise.withResolvers<undefined>();
  const onStop = (): void => stopped.resolve(undefined);
  stop.addEventListener("abort", onStop, { once: true });
  if (stop.aborted) onStop();
  try {
    const exit = await Promise.race([process.exited, stopped.promise]);
    if (!exit) await process.stop();
    return exit;
  } finally {
    stop.removeEventListener("abort", onStop);
  }
}

function saidOf(
  code: number | undefined,
  out: Awaited<ReturnType<Process["read"]>>,
  errors: string,
): HookSaid {
  if (code === 2)
    return { blocks: errors.trim() || out.text.trim() || "a hook does not want it", json: {}, text: "" };
  if (code !== 0) return unsaid(errors.trim().split("\n", 1)[0] || `it ended with ${code ?? "a signal"}`);
  const { json, text, unread } = readHookOutput(out.text, out.next < out.total);
  const said = { json, text: text.slice(0, mostText) };
  return unread === undefined ? said : { ...said, problem: unread, isUnread: true };
}

function unsaid(problem: string): HookSaid {
  return { json: {}, text: "", problem };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
