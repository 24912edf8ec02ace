/** What a sandbox asks of whatever starts its commands: a process it can wait for, time out and read. */
import type { Command, Exit, Failure, Process, SandboxDriver } from "@lathe/protocol";
import type { Mount } from "../policy/policy.ts";
import type { Capture } from "./capture.ts";

/** A command that was handed over to be started. */
export interface Running extends Process {
  /** Why the command never ran; known at the latest once `exited` has settled. */
  readonly startFailure: Failure | undefined;
  readonly capture: Capture;
  /** stderr, where it is kept apart. */
  readonly errors: Capture | undefined;
  /** Resolves when the command runs inside, or never will. */
  started(): Promise<void>;
  /** Ends everything it started because its time is over. */
  expire(): Promise<void>;
  /** *Contract:* resolves once everything it started stands still, or after a moment; never rejects. */
  pause(): Promise<void>;
  /** *Contract:* lets it go on. */
  resume(): void;
}

export type TakenBack = Pick<Exit, "takenBack" | "removedLinks">;

export interface StartRequest {
  readonly id: string;
  readonly command: Command;
  readonly hasInput: boolean;
  readonly capture: Capture;
  readonly errors: Capture | undefined;
  /** What commands may have, to be told when it was not enough. */
  readonly memoryBytes: number;
  /** Called once when everything it started has ended, before that is told: what had to be taken back. */
  readonly atEnd: () => TakenBack;
}

/** A way to start commands. */
export interface Starter {
  readonly hasTerminals: boolean;
  readonly network: SandboxDriver["network"];
  /** What commands see read-only outside the workspace; absent when they are not held in, and nothing is taken back. */
  readonly shown: readonly string[] | undefined;
  /** Of which commands' view is made, outermost first; absent when they see the machine as it is. */
  readonly mounts?: readonly Mount[] | undefined;
  /**
   * Nothing of the workspace is sealed for commands: who watches over it has to look at everything, and has this folder,
   * which they do not reach, for itself. Absent where a driver seals.
   */
  readonly unsealed?: string | undefined;
  /** *Contract:* throws when the scratch folder cannot be used; every other failure to start is the process's. */
  start(request: StartRequest): Promise<Running>;
  /** *Contract:* called once, when everything that was started has ended. */
  close(): Promise<void>;
}
