/**
 * The command's `main` inside the test's process, with the face of `lathe.ts`: a run costs a sixth of a process.
 * Signals, terminals and programs that inherit our streams need a process of their own: `start` still makes one.
 */
import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { fstatSync } from "node:fs";
import { PassThrough, Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { launcherFlags } from "../scripts/launcher-flags.mjs";
import {
  type Ended,
  type More,
  makePlace as makeProcessPlace,
  type Place,
  type Running,
  watched,
} from "./lathe.ts";

const script = fileURLToPath(new URL("../apps/cli/bin/lathe.mjs", import.meta.url));
const sources = new URL("../apps/cli/src/main.ts", import.meta.url).href;
/** `scripts/test.mjs` has joined the sources just before; without it they are loaded as they are. */
const joined = process.env.LATHE_TEST_MAIN;

type Main = (argv: readonly string[]) => Promise<number>;
let loaded: Promise<Main> | undefined;

/** The runs of this process, one after the other: they share its folder and its environment. */
let last: Promise<unknown> = Promise.resolve();

/** Whether a conversation holds the process: what runs meanwhile needs another one. */
let isTalking = false;

/** Processes of the tests themselves: no run waits for their end. */
let started = 0;

export interface InProcessPlace extends Place {
  /** As `start`, for a client that talks to the command and ends it by closing its input; no signal reaches it. */
  talk(args: readonly string[], more?: More): Running;
}

/** As the place of `lathe.ts`, but `run` stays in this process where its circumstances allow it. */
export function makePlace(env: Readonly<Record<string, string>> = {}): InProcessPlace {
  const place = makeProcessPlace(env);
  const start = (args: readonly string[], more: More = {}): Running => {
    const running = place.start(args, more);
    started++;
    void running.ended.then(() => started--);
    return running;
  };
  const run = (args: readonly string[], more: More = {}): Promise<Ended> => {
    // What works in a fork inherits the streams of its process.
    const isInFork = args[0] === "run" && args.includes("--fork");
    const needsProcess = more.before !== undefined || more.input === null || isTalking || isInFork;
    if (needsProcess || (more.input && !canBePiped())) return start(args, more).ended;
    const [out, err] = [new Collected(), new Collected()];
    const stdin = Readable.from(more.input ? [Buffer.from(more.input)] : [], { objectMode: false });
    const streams = { stdin, stdout: out, stderr: err };
    const next = last.then(() => runHere(args, { streams, cwd: place.workspace, env: place.envOf(more) }));
    last = next.catch(() => undefined);
    return next.then((code) => ({ code, signal: null, out: out.text, err: err.text }));
  };
  const talk = (args: readonly string[], more: More = {}): Running => {
    if (isTalking) return start(args, { ...more, input: null });
    isTalking = true;
    const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
    const child = Object.assign(new EventEmitter(), streams, { kill: () => false });
    const running = watched(child as unknown as ChildProcess);
    const next = last.then(() => runHere(args, { streams, cwd: place.workspace, env: place.envOf(more) }));
    const end = async (code: number): Promise<void> => {
      isTalking = false;
      await Promise.all([streams.stdout, streams.stderr].map((stream) => finished(stream.end())));
      child.emit("close", code, null);
    };
    last = next.then(end, (error: unknown) => {
      streams.stderr.write(String(error));
      return end(70);
    });
    return running;
  };
  // Work that would end with a process may still read the files of its test.
  return { ...place, start, run, talk, remove: () => place.remove("at-exit") };
}

/** The command asks the descriptor whether input is piped in; under the test runner it is. */
function canBePiped(): boolean {
  const stat = fstatSync(0);
  return stat.isFIFO() || stat.isSocket() || stat.isFile();
}

async function load(): Promise<Main> {
  // For good: what ends the process later, by a timer, would leave out the tests behind it.
  Object.defineProperty(process, "exit", { value: refuseExit });
  const { main }: { readonly main: Main } = await import(joined ? pathToFileURL(joined).href : sources);
  return main;
}

interface RestrictedEnvironment {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly streams: { readonly stdin: Readable; readonly stdout: Writable; readonly stderr: Writable };
}

async function runHere(
  args: readonly string[],
  { cwd, env, streams }: RestrictedEnvironment,
): Promise<number> {
  loaded ??= load();
  const main = await loaded;
  const before = pending();
  const restore = [
    replaced("stdin", streams.stdin),
    replaced("stdout", streams.stdout),
    replaced("stderr", streams.stderr),
    replaced("argv", [process.execPath, script, ...args]),
    replaced("execArgv", launcherFlags()),
    inFolder(cwd),
    withEnv(env),
  ];
  try {
    const code = await main(args);
    await untilIdle(before);
    return code;
  } finally {
    for (const undo of restore.reverse()) undo();
  }
}

/** A process lives on until all that it began has ended: its processes, files, and timers. */
async function untilIdle(before: number): Promise<void> {
  await setTimeout(0);
  while (pending() > before) await setTimeout(2);
}

function pending(): number {
  const holding = /^(?:ProcessWrap|FSReq|Timeout)/;
  return process.getActiveResourcesInfo().filter((name) => holding.test(name)).length - started;
}

/** A stream in place of one of the process: only this run writes to it. */
class Collected extends Writable {
  text = "";
  readonly #decoder = new TextDecoder();
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += this.#decoder.decode(chunk, { stream: true });
    done();
  }
}

function refuseExit(code?: number): never {
  throw new Error(`the command ends its process (${code}): a test of that needs a process, see Place.start`);
}

type Undo = () => void;
type Replaced = "stdin" | "stdout" | "stderr" | "argv" | "execArgv";

/** The test runner holds the stream it reports to, and does not see this. */
function replaced(name: Replaced, value: unknown): Undo {
  const before = Object.getOwnPropertyDescriptor(process, name) as PropertyDescriptor;
  Object.defineProperty(process, name, { value, configurable: true, writable: true, enumerable: true });
  return () => Object.defineProperty(process, name, before);
}

function inFolder(cwd: string): Undo {
  const before = process.cwd();
  process.chdir(cwd);
  return () => process.chdir(before);
}

/** In place: parts of Node read the variables of the process itself. */
function withEnv(env: Readonly<Record<string, string>>): Undo {
  const before = { ...process.env };
  const set = (values: NodeJS.ProcessEnv): void => {
    for (const name of Object.keys(process.env)) if (values[name] === undefined) delete process.env[name];
    Object.assign(process.env, values);
  };
  set(env);
  return () => set(before);
}
