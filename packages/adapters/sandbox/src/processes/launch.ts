/** What a driver decides about a command: the program to start for it, and how to tell that it never started. */
import type { Command, Failure } from "@lathe/protocol";
import type { Mount } from "../policy/policy.ts";
import type { Outside } from "./denials.ts";

export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the program that is started. */
  readonly env: Readonly<Record<string, string>>;
  /** A file it reads on descriptor 4, after what it reports on 3. */
  readonly reads?: string;
}

export interface Launcher {
  /** Whether commands get a pid namespace: pid 1 ignores the polite signal, and its end is the end of all. */
  readonly isNamespace: boolean;
  /** Where what commands reach ends; absent when they reach everything. */
  readonly outside?: Outside;
  /** What they see read-only; absent when they see everything. */
  readonly shown?: readonly string[];
  /** Of which their view is made; absent when they see the machine as it is. */
  readonly mounts?: readonly Mount[];
  /** The program for a command; `mark` must stand in the environment of the command. */
  launch(command: Command, mark: Mark): Launch;
  /**
   * Reads what the launcher reported on descriptor 3 once it has ended: a failure when the command never ran.
   * Absent when what is started is the command itself.
   */
  readonly judge?: (status: string, output: string) => Failure | undefined;
  /** Called once, when everything it launched has ended. */
  readonly close?: () => void;
  /** Whether the command runs by now, by the launcher's report so far. */
  readonly isStarted?: (status: string) => boolean;
}

export interface Mark {
  readonly name: string;
  readonly value: string;
}
