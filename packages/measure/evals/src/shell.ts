/** Shell: where the commands of a task run; the host gives one that contains them. */
import type { Failure } from "@lathe/protocol";

export interface ShellCommand {
  readonly script: string;
  /** Absolute, within what the shell may write. */
  readonly cwd: string;
  readonly timeoutMs: number;
  /** Beside those that commands have anyway. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ShellResult {
  /** Absent when a signal ended it. */
  readonly code?: number;
  readonly output: string;
  readonly timedOut: boolean;
}

/** *Contract:* runs a script contained in its folder, to its end or its timeout; never throws. */
export type Shell = (command: ShellCommand) => Promise<ShellResult | Failure>;

export interface OpenShell {
  readonly run: Shell;
  /** *Contract:* ends what still runs; idempotent. */
  close(): Promise<void>;
}

/** The last lines of an output, on one line, for a reason. */
export function lastWords(output: string, most = 240): string {
  const lines = output.split("\n").map((line) => line.trim());
  // Brackets of a dump and the version of Node below it say nothing.
  const text = lines.filter((line) => /\w/.test(line) && !/^Node\.js v/.test(line)).slice(-3);
  return text.join(" / ").slice(-most);
}
