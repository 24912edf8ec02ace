/** One started command: its output is pumped into a capture, its end settles one promise, its tree can be ended. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readSync } from "node:fs";
import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Command, type Exit, type Failure, failure, type Process } from "@lathe/protocol";
import type { Capture, Slice } from "./capture.ts";
import { deniedIn } from "./denials.ts";
import { inheritedFds } from "./inherited-fds.ts";
import type { Launcher } from "./launch.ts";
import type { PipeEnds } from "./pipe-pool.ts";
import { endTree, markName, type Tree } from "./process-tree.ts";
import type { StatusFile } from "./status-file.ts";

const chunkSize = 64 * 1024;
/** Bytes at the end of the output in which a failed command says why. */
const lastWords = 16 * 1024;

export interface Start {
  readonly id: string;
  readonly command: Command;
  readonly launcher: Launcher;
  readonly markValue: string;
  readonly capture: Capture;
  readonly output: PipeEnds;
  readonly input?: PipeEnds;
  readonly status?: StatusFile;
}

export class RunningProcess implements Process {
  readonly id: string;
  readonly command: Command;
  readonly startedAt: number;
  readonly exited: Promise<Exit>;
  #exit: Exit | undefined;
  #startFailure: Failure | undefined;
  #timedOut = false;
  #isEnding: Promise<void> | undefined;
  readonly #start: Start;
  readonly #child: ChildProcess;
  readonly #tree: Tree;
  readonly #reader: Socket;
  readonly #writer: Socket | undefined;
  #isReaderOpen = true;

  /** Starts the command; the pipes are this process's from here on. Throws what `spawn` throws. */
  constructor(start: Start) {
    this.#start = start;
    this.id = start.id;
    this.command = start.command;
    this.startedAt = Date.now();
    const startedAt = performance.now();
    this.#child = startChild(start);
    this.#reader = this.#pump();
    this.#writer =
      start.input &&
      new Socket({ fd: start.input.ours, readable: false, writable: true }).on("error", ignore);
    const mark = `${markName}=${start.markValue}`;
    const { isNamespace } = start.launcher;
    this.#tree = { root: this.#child.pid ?? -1, mark, startedAt, isNamespace };
    this.exited = this.#settle();
  }

  get exit(): Exit | undefined {
    return this.#exit;
  }

  /** Why the command never ran; known at the latest once `exited` has settled. */
  get startFailure(): Failure | undefined {
    return this.#startFailure;
  }

  get capture(): Capture {
    return this.#start.capture;
  }

  async read(from: number, limit: number): Promise<Slice> {
    return this.#start.capture.read(from, limit);
  }

  async write(text: string): Promise<Failure | undefined> {
    const writer = this.#writer;
    if (this.#exit || !writer?.writable) {
      return failure(
        "no-process",
        `${this.id} does not read input: ${this.#exit ? "it has ended" : "it has none"}`,
      );
    }
    const written = new Promise<void>((resolve) => void writer.write(text, () => resolve()));
    await Promise.race([written, this.exited]);
    return undefined;
  }

  stop(): Promise<void> {
    this.#isEnding ??= this.#end();
    return this.#isEnding;
  }

  /** Ends the tree because its time is over. */
  expire(): Promise<void> {
    if (!this.#exit) this.#timedOut = true;
    return this.stop();
  }

  /** Resolves when the command runs inside, or never will. */
  async started(): Promise<void> {
    const { status, launcher } = this.#start;
    if (!status || !launcher.isStarted) return;
    while (!this.#exit && !launcher.isStarted(status.text())) await Promise.race([sleep(1), this.exited]);
  }

  async #end(): Promise<void> {
    if (!this.#exit) await endTree(this.#tree);
    await this.exited;
  }

  async #settle(): Promise<Exit> {
    const ended = await childEnd(this.#child);
    if ("error" in ended) this.#startFailure = startFailure(ended.error, this.#start);
    // What the command left running ends with it, so that its output is whole and nothing stays behind.
    else await endTree(this.#tree);
    this.#drain();
    this.#reader.destroy();
    this.#writer?.destroy();
    const { code, signal } = "error" in ended ? { code: 127, signal: null } : ended;
    // A launcher that a signal ended was running the command; one that could not start it exits.
    if (signal === null) this.#judge();
    this.#start.status?.close();
    const timedOut = this.#timedOut;
    this.#exit =
      signal === null ? { code: code ?? 1, timedOut, ...this.#denied(code) } : { signal, timedOut };
    return this.#exit;
  }

  #denied(code: number | null): Pick<Exit, "denied"> {
    const { capture, launcher } = this.#start;
    if (code === 0 || !launcher.outside) return {};
    const { text } = capture.read(capture.total - lastWords, lastWords);
    const denied = deniedIn(text, launcher.outside);
    return denied.length > 0 ? { denied } : {};
  }

  /** A launcher that says nothing of the command's end failed to start it, unless we ended it. */
  #judge(): void {
    const { status, launcher, capture } = this.#start;
    if (status && launcher.judge && this.#isEnding === undefined) {
      this.#startFailure ??= launcher.judge(status.text(), capture.read(0, 2000).text);
    }
  }

  #pump(): Socket {
    const { capture, output } = this.#start;
    const onread = {
      buffer: Buffer.allocUnsafe(chunkSize),
      callback: (size: number, buffer: Uint8Array): boolean => {
        capture.append(Buffer.from(buffer.buffer, buffer.byteOffset, size));
        return true;
      },
    };
    const over = (): void => {
      this.#isReaderOpen = false;
    };
    const options = { fd: output.ours, readable: true, writable: false, onread };
    return new Socket(options).on("end", over).on("close", over).on("error", over);
  }

  /** Takes what is in the pipe now: the end of a process is often told before its last output. */
  #drain(): void {
    if (!this.#isReaderOpen) return;
    const buffer = Buffer.allocUnsafe(chunkSize);
    try {
      for (;;) {
        const size = readSync(this.#start.output.ours, buffer);
        if (size === 0) return;
        this.#start.capture.append(buffer.subarray(0, size));
      }
    } catch {
      // EAGAIN: the pipe is empty, and something we cannot end still holds it.
    }
  }
}

type ChildEnd = { readonly error: Error } | { readonly code: number | null; readonly signal: string | null };

function childEnd(child: ChildProcess): Promise<ChildEnd> {
  return new Promise((resolve) => {
    child.once("error", (error) => {
      // An error after the start (a signal that could not be sent) does not end it.
      if (child.pid === undefined) resolve({ error });
    });
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
}

function startChild({ command, launcher, markValue, output, input, status }: Start): ChildProcess {
  const inherited = inheritedFds();
  const nothing = inherited.length > 0 ? openSync("/dev/null", "r") : undefined;
  try {
    const { file, args, cwd, env } = launcher.launch(command, { name: markName, value: markValue });
    const stdio: ("ignore" | number)[] = [input?.theirs ?? "ignore", output.theirs, output.theirs];
    if (status) stdio.push(status.fd);
    for (const fd of inherited) covered(stdio, fd, nothing ?? "ignore");
    return spawn(file, args, { cwd, env: { ...env }, detached: true, stdio });
  } catch (error) {
    closeSync(output.ours);
    if (input) closeSync(input.ours);
    status?.close();
    throw error;
  } finally {
    for (const fd of [output.theirs, input?.theirs, nothing]) if (fd !== undefined) closeSync(fd);
  }
}

/** Puts something else where a descriptor would be passed on; Node leaves ignored ones as they are. */
function covered(stdio: ("ignore" | number)[], fd: number, cover: "ignore" | number): void {
  while (stdio.length <= fd) stdio.push("ignore");
  if (stdio[fd] === "ignore") stdio[fd] = cover;
}

function startFailure(error: Error, { command }: Start): Failure {
  const text = `the command could not be started in ${command.cwd}: ${error.message}`;
  return failure("sandbox-unavailable", text, { cause: error });
}

function ignore(): void {
  // The end of the process is told by its exit; a broken pipe adds nothing.
}
