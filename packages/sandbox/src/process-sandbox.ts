/** A sandbox whose commands are processes of this machine, started through a driver's launcher. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  type Command,
  type CommandResult,
  type Failure,
  failure,
  isFailure,
  type Process,
  type RunOptions,
  type Sandbox,
  type SandboxSpec,
} from "@lathe/protocol";
import { Capture } from "./capture.ts";
import { controlFolder } from "./folders.ts";
import type { Launcher } from "./launch.ts";
import { isBelow } from "./path-order.ts";
import { PipePool } from "./pipe-pool.ts";
import { endMarked, markName } from "./process-tree.ts";
import { RunningProcess } from "./running-process.ts";
import { scratchFailure } from "./scratch-failure.ts";
import { StatusFile } from "./status-file.ts";

/** Bytes of a result's head and of its tail. */
const side = 32 * 1024;
const defaultCap = 64 * 1024 * 1024;
const longestTimer = 2 ** 31 - 1;

/** Says why effects may not happen any more, for example because another process owns the session now. */
export type Check = () => Promise<Failure | undefined>;

/** `input: false` gives an empty standard input, so that programs which look for one do not wait for it. */
type Spawned = Command & { readonly input?: boolean };

export interface DriverOptions {
  /** Absolute path of the user's home; what the environment says when absent. */
  readonly home?: string;
  /** Asked before each command starts. */
  readonly check?: Check;
  /** Bytes of one command's output that are kept, at most. */
  readonly outputCap?: number;
}

export class ProcessSandbox implements Sandbox {
  readonly spec: SandboxSpec;
  readonly #launcher: Launcher;
  readonly #options: DriverOptions;
  readonly #pipes: PipePool;
  readonly #box: string;
  readonly #spawned: RunningProcess[] = [];
  readonly #running = new Set<RunningProcess>();
  #commands = 0;
  #closing: Promise<void> | undefined;

  constructor(spec: SandboxSpec, launcher: Launcher, options: DriverOptions) {
    this.spec = spec;
    this.#launcher = launcher;
    this.#options = options;
    this.#pipes = new PipePool(join(spec.scratch, controlFolder));
    this.#box = claimBox(join(spec.scratch, controlFolder, "box"));
    this.#pipes.warm();
  }

  async spawn(command: Spawned): Promise<Process | Failure> {
    const started = await this.#start(command, command.input ?? true);
    if (isFailure(started)) return started;
    await started.started();
    if (started.startFailure) return started.startFailure;
    this.#spawned.push(started);
    return started;
  }

  async exec(command: Command, { timeoutMs, signal }: RunOptions): Promise<CommandResult | Failure> {
    const from = performance.now();
    if (signal?.aborted) return cancelled();
    const started = await this.#start(command, false);
    if (isFailure(started)) return started;
    const timer = timeoutMs < longestTimer ? setTimeout(() => void started.expire(), timeoutMs) : undefined;
    const abort = (): void => void started.stop();
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    const exit = await started.exited;
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    const { capture, startFailure } = started;
    const output = capture.headAndTail(side);
    capture.close();
    return startFailure ?? { ...exit, output, bytes: capture.total, ms: performance.now() - from };
  }

  processes(): readonly Process[] {
    return [...this.#spawned];
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const hadCommands = this.#commands > 0;
    await Promise.all([...this.#running].map((one) => one.stop()));
    if (hadCommands && !this.#launcher.isNamespace) await endMarked(`${markName}=${this.#box}.`);
    for (const { capture } of this.#spawned) capture.close();
    await this.#pipes.close();
  }

  async #start(command: Command, hasInput: boolean): Promise<RunningProcess | Failure> {
    const refusal = (await this.#options.check?.()) ?? this.#refusal(command);
    if (refusal) return refusal;
    const number = ++this.#commands;
    const { scratch } = this.spec;
    try {
      const output = await this.#pipes.output();
      const input = hasInput ? await this.#pipes.input() : undefined;
      const status = this.#launcher.judge && new StatusFile(join(scratch, controlFolder));
      const running = new RunningProcess({
        id: `p${this.#spawned.length + 1}`,
        command,
        launcher: this.#launcher,
        markValue: `${this.#box}.${number}.`,
        capture: new Capture({ folder: scratch, cap: this.#options.outputCap ?? defaultCap }),
        output,
        ...(input && { input }),
        ...(status && { status }),
      });
      this.#running.add(running);
      void running.exited.then(() => this.#running.delete(running));
      return running;
    } catch (error) {
      return scratchFailure(scratch, error);
    }
  }

  #refusal({ cwd, script }: Command): Failure | undefined {
    const { workspace, scratch } = this.spec;
    if (this.#closing !== undefined) return failure("sandbox-unavailable", "the sandbox is closed");
    if (script.includes("\0"))
      return failure("invalid-arguments", "the command holds a NUL byte: leave it out");
    if (!isBelow(resolve(cwd), workspace) && !isBelow(resolve(cwd), scratch)) {
      const text = `commands start in the workspace ${workspace}, not in ${cwd}`;
      return failure("outside-workspace", text);
    }
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
      return failure("not-found", `there is no folder ${cwd} to run the command in`, { who: "model" });
    }
    return undefined;
  }
}

function cancelled(): Failure {
  return failure("cancelled", "the command was cancelled before it started");
}

/** A name for this sandbox; one that is written there already was left by a harness that died, and so are its commands. */
function claimBox(file: string): string {
  if (existsSync(file)) void endMarked(`${markName}=${readFileSync(file, "utf8")}.`);
  const name = randomBytes(6).toString("hex");
  writeFileSync(file, name);
  return name;
}
