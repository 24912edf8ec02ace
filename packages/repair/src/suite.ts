/** What every way of running tests offers the search. */

import type { RepairDeps, RepairInput, RunResult } from "./repair-types.ts";
import type { Suspect } from "./suspicion.ts";

/** Where a search works: its copies of the workspace and what it knows of it. */
export interface Bench {
  readonly input: RepairInput;
  readonly deps: RepairDeps;
  /** Folder of this search, holds the copies. */
  readonly home: string;
  /** A file that exists once something was found: long batches then end early. */
  readonly stop: string;
  /** Absolute paths of the copies. */
  readonly slots: readonly [string, ...string[]];
  /** Workspace-relative paths of all files. */
  readonly files: readonly string[];
  /** The whole test command, without npm in between. */
  readonly command: string;
  readonly packageJson: string | undefined;
  /** Seconds left of the budget. */
  left(): number;
  /** Text of a workspace file. */
  text(path: string): Promise<string>;
}

/** One candidate as a whole file. */
export interface Trial {
  readonly path: string;
  readonly text: string;
}

export interface Suite {
  readonly suspects: readonly Suspect[];
  /** How many trials one call of `attempt` should be given. */
  readonly batch: number;
  /** Runs trials in order; may stop at the first that passes. `patience` multiplies the time one may take. */
  attempt(slot: string, trials: readonly Trial[], patience: number): Promise<Attempted>;
}

/** How many trials ran, and the indexes of those that passed and of those that ran out of time. */
export interface Attempted {
  readonly ran: number;
  readonly passed: readonly number[];
  readonly slow: readonly number[];
}

/** Runs a test command in a copy. */
export function runTests(
  bench: Bench,
  command: string,
  where: { readonly slot: string; readonly timeoutMs: number },
): Promise<RunResult> {
  return bench.deps.run(
    `export PATH="$PWD/node_modules/.bin:$PATH" PYTHONDONTWRITEBYTECODE=1 CI=1 FORCE_COLOR=0; ${command}`,
    { cwd: where.slot, timeoutMs: where.timeoutMs },
  );
}
