/** A sandbox that runs nothing: it records each command and returns a scripted result. */
import {
  type Command,
  type CommandResult,
  type Effect,
  type Exit,
  type Failure,
  failure,
  type Process,
  type RunOptions,
  type Sandbox,
  type SandboxDriver,
  type SandboxSpec,
} from "@lathe/protocol";

/** The scripted behavior of one command. */
export interface ScriptedCommand {
  readonly code?: number;
  readonly signal?: string;
  readonly output?: string;
  /** Effects that the sandbox denies. */
  readonly denied?: readonly Effect[];
  /** Files it made that the sandbox reverted. */
  readonly takenBack?: readonly string[];
  /** Runs until its timeout, its signal or `stop` ends it. */
  readonly hangs?: boolean;
  /** A failure of the sandbox itself. */
  readonly failure?: Failure;
  /** Maps an input line to the command's output. */
  readonly answer?: (input: string) => string;
}

export type CommandScript = readonly ScriptedCommand[] | ((command: Command) => ScriptedCommand | undefined);

export interface FakeSandbox extends Sandbox {
  /** Every command that was started, in order. */
  readonly commands: readonly Command[];
}

const usualSpec: SandboxSpec = { workspace: "/workspace", scratch: "/scratch", network: "none", env: {} };

/** Commands succeed without output unless the script (an ordered list, or a function) says otherwise. */
export function createFakeSandbox(script: CommandScript = [], spec: SandboxSpec = usualSpec): FakeSandbox {
  const commands: Command[] = [];
  const spawned: FakeProcess[] = [];
  const running = new Set<FakeProcess>();
  let isClosed = false;
  const start = (command: Command): FakeProcess | Failure => {
    if (isClosed) return failure("sandbox-unavailable", "the sandbox is closed");
    commands.push(command);
    const scripted = typeof script === "function" ? script(command) : script[commands.length - 1];
    if (scripted?.failure) return scripted.failure;
    const started = new FakeProcess(
      `p${(spec.numberedAfter ?? 0) + spawned.length + 1}`,
      command,
      scripted ?? {},
    );
    running.add(started);
    void started.exited.then(() => running.delete(started));
    return started;
  };
  return {
    spec,
    commands,
    spawn: async (command) => {
      const started = start(command);
      if (started instanceof FakeProcess) spawned.push(started);
      return started;
    },
    exec: async (command, options) => {
      if (options.signal?.aborted) return failure("cancelled", "the command was cancelled before it started");
      const started = start(command);
      return started instanceof FakeProcess ? finish(started, options) : started;
    },
    find: async (path) => failure("not-found", `${path} does not exist.`),
    processes: () => [...spawned],
    close: async () => {
      isClosed = true;
      for (const one of running) await one.stop();
    },
  };
}

/** A driver that opens fakes; `opened` lists them in order. */
export function createFakeDriver(
  script: CommandScript = [],
): SandboxDriver & { readonly opened: readonly FakeSandbox[] } {
  const opened: FakeSandbox[] = [];
  const open = async (spec: SandboxSpec): Promise<Sandbox> => {
    const sandbox = createFakeSandbox(script, spec);
    opened.push(sandbox);
    return sandbox;
  };
  return { name: "fake", tier: "full", network: "closed", opened, open };
}

async function finish(started: FakeProcess, { timeoutMs, signal }: RunOptions): Promise<CommandResult> {
  const expire = (): void => started.end({ signal: "SIGTERM", timedOut: true });
  const timer = started.exit || timeoutMs > 2 ** 31 - 1 ? undefined : setTimeout(expire, timeoutMs);
  const abort = (): void => void started.stop();
  signal?.addEventListener("abort", abort, { once: true });
  const exit = await started.exited;
  clearTimeout(timer);
  signal?.removeEventListener("abort", abort);
  const { text, total } = await started.read(0, Number.MAX_SAFE_INTEGER);
  return { ...exit, output: text, bytes: total, ms: 0 };
}

class FakeProcess implements Process {
  readonly id: string;
  readonly command: Command;
  readonly startedAt = 0;
  readonly exited: Promise<Exit>;
  readonly #scripted: ScriptedCommand;
  readonly #settle: (exit: Exit) => void;
  #output: Buffer;
  #exit: Exit | undefined;

  constructor(id: string, command: Command, scripted: ScriptedCommand) {
    const { promise, resolve } = Promise.withResolvers<Exit>();
    this.id = id;
    this.command = command;
    this.exited = promise;
    this.#settle = resolve;
    this.#scripted = scripted;
    this.#output = Buffer.from(scripted.output ?? "");
    const { code = 0, signal, hangs, denied, takenBack } = scripted;
    const kept = { timedOut: false, ...(denied && { denied }), ...(takenBack && { takenBack }) };
    if (!hangs) this.end(signal === undefined ? { code, ...kept } : { signal, ...kept });
  }

  get exit(): Exit | undefined {
    return this.#exit;
  }

  end(exit: Exit): void {
    this.#exit ??= exit;
    this.#settle(this.#exit);
  }

  async read(from: number, limit: number): Promise<Awaited<ReturnType<Process["read"]>>> {
    const bytes = this.#output.subarray(from, from + limit);
    return { text: bytes.toString("utf8"), next: from + bytes.length, total: this.#output.length };
  }

  async readErrors(): Promise<Awaited<ReturnType<Process["read"]>>> {
    return { text: "", next: 0, total: 0 };
  }

  async closeInput(): Promise<void> {
    // A scripted command reads only single inputs; there is no end of input to signal.
  }

  async resize(): Promise<Failure | undefined> {
    return failure("no-process", `${this.id} has no terminal`);
  }

  async bytes(stream: "output" | "errors", from: number, limit: number): Promise<Uint8Array> {
    return stream === "output" ? this.#output.subarray(from, from + limit) : new Uint8Array();
  }

  async write(input: string | Uint8Array): Promise<Failure | undefined> {
    const text = Buffer.from(input).toString();
    if (this.#exit) return failure("no-process", `${this.id} does not read input: it has ended`);
    const answer = this.#scripted.answer?.(text) ?? "";
    this.#output = Buffer.concat([this.#output, Buffer.from(answer)]);
    return undefined;
  }

  async stop(): Promise<void> {
    this.end({ signal: "SIGTERM", timedOut: false });
  }
}
