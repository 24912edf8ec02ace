/** The diagnostics port: what a project's own checkers, and language servers that the user set up, say of its files. */
import type { Failure } from "../failure.ts";
import type { Problem } from "../problem.ts";
import type { Command, Process } from "./sandbox.ts";
import type { FileContent } from "./workspace.ts";

/** Paths as they were asked for, absolute ones too; none ask for everything. */
export interface CheckQuery {
  readonly paths: readonly string[];
  /** The only checker that is asked. */
  readonly checker?: string;
}

/** One checker's run, before it happens. */
export interface Check {
  readonly checker: string;
  /** Where it runs, from the workspace; empty for the workspace itself. */
  readonly folder: string;
  /** What is judged, and then run as it stands. */
  readonly script: string;
}

export interface CheckPlan {
  readonly checks: readonly Check[];
  /** Checkers that were found and are not run, and why. */
  readonly left: readonly { readonly checker: string; readonly why: string }[];
}

/** What a check reaches. */
export interface CheckPlace {
  /** *Contract:* as the sandbox's, with what the call's commands may and may not do. */
  spawn(command: Command): Promise<Process | Failure>;
  /** *Contract:* as the workspace's. */
  read(path: string): Promise<FileContent | Failure>;
  /** *Contract:* files below a path that end in one of the extensions, at most `limit`; sorted. */
  files(
    path: string,
    query: { readonly extensions: readonly string[]; readonly limit: number },
  ): Promise<{ readonly paths: readonly string[]; readonly more: boolean } | Failure>;
  readonly signal: AbortSignal;
  /** Milliseconds a checker may take. */
  readonly timeoutMs: number;
}

export interface CheckReport {
  /** As the checker found them, bounded. */
  readonly problems: readonly Problem[];
  /** What was not looked at, in words. */
  readonly notes: readonly string[];
}

export interface Diagnostics {
  /** *Contract:* looks for checkers anew; quick, and never throws. */
  look(): void;
  /** *Contract:* pure between two looks. */
  plan(query: CheckQuery): CheckPlan | Failure;
  /** *Contract:* pure between two looks; the one that answers soonest for a file, undefined where none knows it. */
  quickest(path: string): Check | undefined;
  /** *Contract:* a checker that did not come to its end, or could not read its settings, is a failure, never "no problems". */
  run(check: Check, query: CheckQuery, place: CheckPlace): Promise<CheckReport | Failure>;
  /** *Contract:* ends the language servers; idempotent. */
  close(): Promise<void>;
}
