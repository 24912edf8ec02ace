/**
 * The process of one attempt or its tests: reads its order, reports in lines, and ends with its parent
 * process.
 */
import type { Order, Told } from "@lathe/attempts";
import { type AgentOptions, agentFlags, readFlags } from "@lathe/config";
import { openAttempts, openTests } from "@lathe/hosts/attempts";
import { type Failure, isFailure } from "@lathe/protocol";
import { onBrokenPipe } from "../output/broken-pipe.ts";
import { agentOptions } from "../run/run-options.ts";
import { quiet, self } from "./attempt-workers.ts";

/** Work that can be stopped; the limit is how long it may take to close. */
interface Work {
  /** *Contract:* the work ends soon and cleanly. */
  cancel(): void;
  close(): Promise<unknown>;
}

const graceMs = 10_000;

export async function asAttempt(argv: readonly string[]): Promise<number> {
  const starter = followStarter();
  try {
    return await carryOut(argv, starter);
  } finally {
    starter.release();
  }
}

async function carryOut(argv: readonly string[], starter: Starter): Promise<number> {
  const line = readFlags(argv, agentFlags);
  if (isFailure(line)) return failed(line);
  const given = line.values.model !== undefined;
  const options = await agentOptions(line.values, () => undefined);
  if (isFailure(options)) return failed(options);
  const order = await starter.order;
  // A resumed attempt keeps its model, unless the command line names another.
  const found =
    order.type === "tests"
      ? await tests(options, order, starter)
      : await attempt(options, { order, given }, starter);
  return isFailure(found) ? failed(found) : 0;
}

function tell(told: Told): void {
  process.stdout.write(`${JSON.stringify(told)}\n`);
}

function failed(failure: Failure): number {
  const { cause: _, ...told } = failure;
  tell({ type: "failed", failure: told });
  return 1;
}

type OrderOf<Type extends Order["type"]> = Extract<Order, { readonly type: Type }>;

async function attempt(
  options: AgentOptions,
  { order, given }: { readonly order: OrderOf<"attempt">; readonly given: boolean },
  starter: Starter,
): Promise<Failure | undefined> {
  const { beginAttempt, driveAttempt } = await import("@lathe/attempts");
  const { sessions } = await openAttempts(quiet(options), self());
  const isOld = !isFailure(await sessions.stores.store.read(order.id));
  const models = isOld && !given ? [] : options.models;
  const session = await beginAttempt(sessions, { ...options, models }, { order, tell });
  if (isFailure(session)) return session;
  starter.follow({ cancel: () => void session.cancel("user"), close: () => session.close() });
  try {
    return await driveAttempt(session);
  } finally {
    await session.close();
  }
}

async function tests(
  options: AgentOptions,
  order: OrderOf<"tests">,
  starter: Starter,
): Promise<Failure | undefined> {
  const { runTests } = await import("@lathe/attempts");
  const quietly = quiet(options);
  // The attempt may have changed the project's scripts, so the command is checked again.
  const problem = await (await openAttempts(quietly, self())).tests.refusal(options.cwd, order.command);
  if (problem !== undefined) {
    tell({ type: "tests", tests: { passed: false, problem, ms: 0 } });
    return undefined;
  }
  const lone = await openTests(quietly);
  if (isFailure(lone)) return lone;
  starter.follow({ cancel: () => void lone.close(), close: () => lone.close() });
  try {
    tell({ type: "tests", tests: await runTests(lone.sandbox, order, options.cwd) });
    return undefined;
  } finally {
    await lone.close();
  }
}

interface Starter {
  readonly order: Promise<Order>;
  /** Ties the work's end to the signals and input of the parent process. */
  follow(work: Work): void;
  /** Stops reading, so that the input no longer keeps the process alive. */
  release(): void;
}

/**
 * On one interrupt the work ends cleanly; on a second, on a signal to end, or without its parent, at once.
 */
function followStarter(): Starter {
  const begun = Promise.withResolvers<Work>();
  let work: Work | undefined;
  let interrupts = 0;
  let isLeaving = false;
  let isOrdered = false;
  const leave = (): void => {
    if (isLeaving) return;
    isLeaving = true;
    if (!isOrdered) process.exit(1);
    // Work that is still opening or running tests must finish to clean up after itself.
    setTimeout(() => process.exit(1), graceMs).unref();
    process.exitCode = 1;
    process.stdin.destroy();
    void begun.promise.then((started) => started.close());
  };
  process.on("SIGINT", () => {
    interrupts++;
    if (interrupts > 1) leave();
    else work?.cancel();
  });
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, leave);
  onBrokenPipe(leave);
  const order = new Promise<Order>((resolve) => {
    let said = "";
    const onData = (text: string): void => {
      said += text;
      const end = said.indexOf("\n");
      if (end < 0) return;
      process.stdin.off("data", onData).resume();
      isOrdered = true;
      resolve(JSON.parse(said.slice(0, end)) as Order);
    };
    process.stdin.setEncoding("utf8").on("data", onData).on("end", leave).on("error", leave);
  });
  return {
    order,
    release: () => {
      isLeaving = true;
      process.stdin.destroy();
    },
    follow: (started) => {
      work = started;
      begun.resolve(started);
      if (interrupts > 0) started.cancel();
    },
  };
}
