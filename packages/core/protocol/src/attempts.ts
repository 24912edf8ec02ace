/** Attempts: several sessions at one task, each on a copy of the folder of its own, of which one is taken. */
import * as v from "valibot";

/** Who says which one is best. */
export const judges = ["tests", "model"] as const;
export type Judge = (typeof judges)[number];

/** Where an attempt works: a copy-on-write view of the folder, or a git working tree. */
export interface AttemptPlace {
  readonly type: "fork" | "worktree";
  readonly id: string;
}

export interface Attempted {
  readonly session: string;
  readonly place: AttemptPlace;
  /** Model ids as they were asked for, where it has its own. */
  readonly model?: string;
}

export interface TestsRun {
  readonly passed: boolean;
  /** Tests that failed, where the runner's output says so. */
  readonly failures?: number;
  /** Why they could not be run to their end. */
  readonly problem?: string;
  readonly ms: number;
}

/** What became of one attempt. */
export interface AttemptResult {
  /** How its turn ended, in one word; `lost` when its session cannot be read. */
  readonly end: string;
  /** Why it did not come to its end, where something says so. */
  readonly problem?: string;
  /** Absent where no test command is known. */
  readonly tests?: TestsRun;
  /** Files of tests, and of what runs them, that it changed: its tests say less. */
  readonly testFiles?: readonly string[];
  /** The tests as they were, run over what else it changed; absent where it left them, or they could not be put back. */
  readonly originalTests?: TestsRun;
  /** What it changed; lines of texts only. */
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  readonly steps: number;
  /** US dollars; a lower bound with `costUnknown`. */
  readonly cost: number;
  readonly costUnknown: boolean;
  readonly ms: number;
}

/** Whether its passing tests say little: it changed them, and as they were they do not pass. */
export function hasDoubtfulTests({ testFiles = [], originalTests }: AttemptResult): boolean {
  return testFiles.length > 0 && originalTests?.passed !== true;
}

export const attemptedSchema: v.GenericSchema<unknown, Attempted> = v.object({
  session: v.string(),
  place: v.object({ type: v.picklist(["fork", "worktree"]), id: v.string() }),
  model: v.exactOptional(v.string()),
});

const testsRunSchema = v.object({
  passed: v.boolean(),
  failures: v.exactOptional(v.number()),
  problem: v.exactOptional(v.string()),
  ms: v.number(),
});

export const attemptResultSchema: v.GenericSchema<unknown, AttemptResult> = v.object({
  end: v.string(),
  problem: v.exactOptional(v.string()),
  tests: v.exactOptional(testsRunSchema),
  testFiles: v.exactOptional(v.array(v.string())),
  originalTests: v.exactOptional(testsRunSchema),
  files: v.number(),
  added: v.number(),
  removed: v.number(),
  steps: v.number(),
  cost: v.number(),
  costUnknown: v.boolean(),
  ms: v.number(),
});

export interface AttemptsVerdict {
  readonly results: readonly AttemptResult[];
  /** Counted from 0; absent when none is worth taking. */
  readonly winner?: number;
  /** Who said so in the end. */
  readonly by: Judge;
  readonly why: string;
}

export interface Attempts {
  readonly attempts: readonly Attempted[];
  /** Absent for tests where a test command is known, else a model. */
  readonly judge?: Judge;
  /** Run in a shell in the folder. */
  readonly testCommand?: string;
  /** Orders what a model is shown. */
  readonly seed: number;
  /** Whether the winner is taken over without being asked. */
  readonly apply: boolean;
  /** Whether the others stay. */
  readonly keepAll: boolean;
  readonly verdict?: AttemptsVerdict;
  /** Which one is being taken over, counted from 0: where its place is gone, it was. */
  readonly taking?: number;
  /** Nothing is left to do; which one was taken over, if one was. */
  readonly settled?: { readonly taken?: number };
}
