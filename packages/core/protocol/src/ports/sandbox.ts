/** The sandbox port: where commands run. */
import type { Effect } from "../decision.ts";
import type { Failure } from "../failure.ts";
import type { JudgedFiles } from "../judged-files.ts";

/** What a sandbox lets commands do; the same for every driver. */
export interface SandboxSpec {
  /** Real path of the workspace, writable, seen at the same path inside. */
  readonly workspace: string;
  /** A folder of the session's own outside the workspace, writable, same path inside; TMPDIR lies in it. */
  readonly scratch: string;
  readonly network: "none" | "host";
  /** Real paths of existing folders that commands find empty, wherever they lie; a driver of a tier below `full` may show them. */
  readonly hidden?: readonly string[];
  /** Existing folders that commands and files' tools find at these paths, to be read only, also where they lie in what is closed. */
  readonly shown?: readonly string[];
  /** Real paths that are never granted: Lathe's own files. */
  readonly closed?: readonly string[];
  /** The whole environment of commands; nothing else is passed on. */
  readonly env: Readonly<Record<string, string>>;
  /** Processes are numbered on from here, so that a name never stands for two processes; absent: 0. */
  readonly numberedAfter?: number;
  /** Commands see the workspace as a copy-on-write view: what they change there lies in these layers. */
  readonly fork?: ForkLayers;
  /** The workspace is a folder that was just made for these commands, and no program reads its settings yet: nothing in it is sealed or reverted. */
  readonly isUnguarded?: true;
}

/** Folders of one file system, outside the workspace; one sandbox at a time has them open. */
export interface ForkLayers {
  /** What differs from the workspace. */
  readonly upper: string;
  /** The kernel's own. */
  readonly work: string;
}

export type Tier = "full" | "reduced" | "none";

export interface Command {
  /** Run by `bash -c` (`sh -c` where there is no bash). */
  readonly script: string;
  /** Absolute; inside the workspace or the scratch folder. */
  readonly cwd: string;
  /** Keeps stderr apart from stdout, at the price of their order; else `output` holds both. */
  readonly apart?: boolean;
  /** A terminal of this size in place of pipes; a driver that has none refuses the command. */
  readonly terminal?: TerminalSize;
  /** What this one command may do beyond the spec: reads and writes below absolute paths, hosts it may reach. */
  readonly grants?: readonly Effect[];
  /** Absolute paths, or globs of them, that it may not delete, move or change, whatever else it may write. */
  readonly sealed?: readonly string[];
  /** What its verdict depended on: it starts only while each of these files is as it was when it was judged. */
  readonly judged?: JudgedFiles;
}

export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

export interface Exit {
  /** Absent when a signal ended it. */
  readonly code?: number;
  readonly signal?: string;
  readonly timedOut: boolean;
  /** The kernel ended something in the sandbox for want of memory while the command ran. */
  readonly outOfMemory?: boolean;
  /** How much memory there was for commands, when it was not enough. */
  readonly memoryLimitBytes?: number;
  /** The most memory one of its processes had, where the driver knows. */
  readonly peakBytes?: number;
  /** What the command made or changed that programs on the host obey by themselves, e.g. a git hook, and was taken back. */
  readonly takenBack?: readonly string[];
  /** Of that, links out of the workspace: paths relative to it where nothing is now, whatever they had replaced. */
  readonly removedLinks?: readonly string[];
  /** The sandbox itself ended under the command: not the command's doing. */
  readonly failure?: Failure;
  /** What the sandbox kept it from, as far as it can tell, in the form of grants; absent when it knows of nothing. */
  readonly denied?: readonly Effect[];
}

export interface CommandResult extends Exit {
  /** stdout and stderr in the order written, head and tail kept when it is long. */
  readonly output: string;
  /** stderr of a command that keeps it apart, head and tail kept. */
  readonly errors?: string;
  /** Bytes the command wrote in all. */
  readonly bytes: number;
  readonly ms: number;
}

/** A command that runs or has run, with everything it started. */
export interface Process {
  /** Short and unique in the sandbox, e.g. `p1`. */
  readonly id: string;
  readonly command: Command;
  readonly startedAt: number;
  /** Settles when the command's process ended; never rejects. */
  readonly exited: Promise<Exit>;
  /** The exit, once it is known. */
  readonly exit: Exit | undefined;
  /**
   * Output from byte `from` on, decoded as UTF-8, at most `limit` bytes.
   * *Contract:* never throws; `next` is where the following call goes on.
   */
  read(
    from: number,
    limit: number,
  ): Promise<{ readonly text: string; readonly next: number; readonly total: number }>;
  /** *Contract:* as `read`, for the stderr of a command that keeps it apart; empty for all others. */
  readErrors: Process["read"];
  /** *Contract:* the same bytes undecoded, `read`'s or `readErrors`'; empty where none are kept yet. */
  bytes(stream: "output" | "errors", from: number, limit: number): Promise<Uint8Array>;
  /** *Contract:* writes to its standard input, and resolves when it may take more; a failure when it is gone or has none. */
  write(input: string | Uint8Array): Promise<Failure | undefined>;
  /** *Contract:* its standard input is at its end once it has read what was written; idempotent. */
  closeInput(): Promise<void>;
  /** *Contract:* a failure when it has no terminal. */
  resize(size: TerminalSize): Promise<Failure | undefined>;
  /** *Contract:* ends the whole tree (SIGTERM, then SIGKILL after a moment); idempotent; resolves when it is gone. */
  stop(): Promise<void>;
}

export interface RunOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Something outside the workspace, or in it by a name of its own. */
export interface Place {
  /** Real path on this machine. */
  readonly path: string;
  /** What commands call it, links followed; the same for what they do not see. */
  readonly name: string;
  /** Absolute, as it was asked for, no link followed. */
  readonly asked: string;
  /** What of it is never granted, or has rules of its own as the workspace has: real paths below it. */
  readonly closed: readonly string[];
  /** Commands may change the files there, also while they are being read. */
  readonly isWritable?: true;
  /** What would have to be granted before it is read: it, or the repository it lies in; absent where commands may read it as it is. */
  readonly needs?: Effect;
}

export interface Sandbox {
  readonly spec: SandboxSpec;
  /**
   * *Contract:* what commands find at a path (absolute, or from the workspace) that is no name in the workspace, else what is
   * there on this machine; `not-found` where nothing is, `no-access` for what is never granted.
   */
  find(path: string): Promise<Place | Failure>;
  /**
   * *Contract:* a start failure of the sandbox itself is `sandbox-unavailable`, never shown as the command's;
   * `stale-version` where a judged file has changed, and then nothing ran.
   */
  spawn(command: Command): Promise<Process | Failure>;
  /** *Contract:* runs to its end; at the timeout or the signal the whole tree is ended first. */
  exec(command: Command, options: RunOptions): Promise<CommandResult | Failure>;
  /** Processes started by `spawn`, running or not, in order. */
  processes(): readonly Process[];
  /** *Contract:* ends every process and resolves when nothing is left; idempotent. */
  close(): Promise<void>;
}

export interface SandboxDriver {
  /** For example `bubblewrap`. */
  readonly name: string;
  readonly tier: Tier;
  /** What commands reach: everything, the hosts they are granted or that its rules name, or nothing, whatever is granted. */
  readonly network: "open" | "granted" | "closed";
  /** With no network each command has a loopback of its own: a server is reached by the command that started it alone. */
  readonly hasSeparateNetworks?: boolean;
  /** What a full sandbox holds and this one does not, one sentence each; absent or empty where nothing is missing. */
  readonly lacks?: readonly string[];
  /** Whether it can show the workspace as a copy-on-write view; else a spec with a fork is refused. */
  readonly hasForks?: boolean;
  /** *Contract:* cheap; the first command may still fail with `sandbox-unavailable`. */
  open(spec: SandboxSpec): Promise<Sandbox | Failure>;
}
