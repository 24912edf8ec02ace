/** Runs one attempt to its result: its session, its tests and its changes. */
import {
  type AttemptResult,
  type Failure,
  fold,
  isFailure,
  messageText,
  type Session,
  type TestsRun,
} from "@lathe/protocol";
import { type Changes, changesIn } from "./changes-of.ts";
import type { Compared } from "./judge-attempts.ts";
import type { AttemptOrder, Order, Told } from "./orders.ts";
import type { Entrance, Place } from "./place.ts";
import type { Running } from "./running.ts";

export async function runOne(at: number, running: Running): Promise<Compared> {
  const { log, places, observer, signal } = running;
  const place = places[at];
  const session = log.attempts.attempts[at]?.session ?? "";
  if (!place) return { result: { ...nothing, end: "lost" }, diffs: [] };
  observer.onAttempt(at, { state: "working", ...(await figuresOf(session, running)) });
  const failed = await work(at, place, running);
  if (failed && !signal.aborted) observer.onRemark(`attempt ${at + 1}: ${failed.text}`);
  if (log.attempts.testCommand !== undefined)
    observer.onAttempt(at, { state: "testing", ...(await figuresOf(session, running)) });
  const tests = signal.aborted ? undefined : await test(place, running);
  const changes = await changesIn(place, log.attempts.testCommand);
  if (isFailure(changes)) observer.onRemark(`attempt ${at + 1}: ${changes.text}`);
  const { diffs, tests: changed, ...size } = isFailure(changes) ? unchanged : changes;
  const { restore } = changed;
  const originals = restore === undefined || signal.aborted ? undefined : await test(place, running, restore);
  const known = await sessionOf(session, running);
  const problem = signal.aborted ? undefined : (failed?.text ?? problemOf(known));
  const result = {
    ...resultOf(known),
    ...(problem !== undefined && { problem }),
    ...size,
    ...testsOf(tests, originals, changed),
  };
  observer.onAttempt(at, { state: "ended", steps: result.steps, cost: result.cost, result });
  return { result, diffs };
}

function testsOf(
  tests: TestsRun | undefined,
  originals: TestsRun | undefined,
  { paths }: Changes["tests"],
): Partial<AttemptResult> {
  return {
    ...(tests && { tests }),
    ...(paths.length > 0 && { testFiles: paths }),
    ...(originals && { originalTests: originals }),
  };
}

const unchanged: Changes = { files: 0, added: 0, removed: 0, diffs: [], tests: { paths: [] } };

async function work(at: number, place: Place, running: Running): Promise<Failure | undefined> {
  const { host, log, observer, worker } = running;
  const attempted = log.attempts.attempts[at];
  const entrance = await place.enter(worker(attempted?.model));
  if (isFailure(entrance)) return entrance;
  const origin = { parent: log.id, root: log.id, agent: `attempt ${at + 1}` };
  const order: AttemptOrder = { type: "attempt", id: attempted?.session ?? "", origin, words: log.words };
  const onTold = (told: Told): void => {
    if (told.type !== "progress") return;
    const { steps, cost, doing } = told.progress;
    observer.onAttempt(at, { state: "working", steps, cost, doing });
  };
  const failed = await runChild({ entrance, order, onTold }, running);
  // A killed process could not remove its scratch folder; a resumed attempt makes a new one.
  if (failed) removeScratch(host, order.id);
  return failed;
}

function removeScratch({ sessions }: Running["host"], session: string): void {
  const scratch = sessions.scratch(session);
  if (!isFailure(scratch)) scratch.remove();
}

/** `restore`: a script that reverts changes of the tests in the copy. */
async function test(place: Place, running: Running, restore?: string): Promise<TestsRun | undefined> {
  const { log, worker, testMs } = running;
  const command = log.attempts.testCommand;
  if (command === undefined) return undefined;
  // Runs in a copy, because files that tests leave behind are not changes of the attempt.
  const copy = await place.enterCopy(worker(undefined));
  if (isFailure(copy)) return { passed: false, problem: copy.text, ms: 0 };
  try {
    let tests: TestsRun | undefined;
    const more = restore === undefined ? {} : { restore };
    const order = { type: "tests", command, timeoutMs: testMs, ...more } as const;
    const onTold = (told: Told): void => {
      if (told.type === "tests") tests = told.tests;
    };
    const failed = await runChild({ entrance: copy.entrance, order, onTold }, running);
    return tests ?? { passed: false, problem: failed?.text ?? "they said nothing", ms: 0 };
  } finally {
    await copy.leave();
  }
}

interface Started {
  readonly entrance: Entrance;
  readonly order: Order;
  readonly onTold: (told: Told) => void;
}

/** *Contract:* passes remarks on; the signal interrupts the process. */
export async function runChild(
  { entrance, order, onTold }: Started,
  { host, observer, signal }: Pick<Running, "host" | "observer" | "signal">,
): Promise<Failure | undefined> {
  let failed: Failure | undefined;
  const child = host.start(entrance, order, (told) => {
    if (told.type === "remark") observer.onRemark(told.text);
    else if (told.type === "failed") failed = told.failure;
    else onTold(told);
  });
  signal.addEventListener("abort", child.interrupt, { once: true });
  if (signal.aborted) child.interrupt();
  try {
    const early = await child.ended;
    return failed ?? early;
  } finally {
    signal.removeEventListener("abort", child.interrupt);
  }
}

const nothing = { files: 0, added: 0, removed: 0, steps: 0, cost: 0, costUnknown: false, ms: 0 };

/** Undefined if there is no such session, or it cannot be read. */
export async function sessionOf(id: string, { host }: Pick<Running, "host">): Promise<Session | undefined> {
  const events = await host.sessions.stores.store.read(id);
  return isFailure(events) || events.length === 0 ? undefined : fold(events);
}

async function figuresOf(
  id: string,
  running: Running,
): Promise<{ readonly steps: number; readonly cost: number }> {
  const session = await sessionOf(id, running);
  return { steps: session?.step ?? 0, cost: session?.account.cost ?? 0 };
}

function resultOf(session: Session | undefined): AttemptResult {
  if (!session) return { ...nothing, end: "lost" };
  const { lastEnd, turn, step, account, updatedAt, createdAt } = session;
  const end = turn || !lastEnd ? "open" : lastEnd.type;
  const { cost, costUnknown } = account;
  return { ...nothing, end, steps: step, cost, costUnknown, ms: updatedAt - createdAt };
}

function problemOf(session: Session | undefined): string | undefined {
  const end = session?.lastEnd;
  if (end?.type === "failed") return end.failure.text;
  return end && "text" in end ? end.text : undefined;
}

/** The agent's last message. */
export function lastWords(session: Session | undefined): string {
  const last = session?.messages.findLast(({ role: who }) => who === "assistant");
  return last?.role === "assistant" ? messageText(last.parts) : "";
}
