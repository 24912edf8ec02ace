/** Trial: one attempt of one agent at one task, as a record that other tools read. */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { parseJson } from "@lathe/protocol";

export interface Trial {
  readonly version: 1;
  readonly task: string;
  /** What the task's files come to: another one is another task. */
  readonly digest: string;
  /** A model's id, with a variant's name after a plus; or `oracle` or `nop`. */
  readonly agent: string;
  /** What the variant's settings come to: others are another agent. */
  readonly variant?: string;
  /** From 1 up. */
  readonly attempt: number;
  readonly startedAt: string;
  readonly outcome: TrialOutcome;
  readonly seconds: Seconds;
  /** What the agent says of itself; absent for `oracle` and `nop`, and where it said nothing. */
  readonly work?: AgentWork;
}

export type TrialOutcome =
  | { readonly type: "graded"; readonly reward: number; readonly rewards: Readonly<Record<string, number>> }
  /** It says nothing of the agent, and counts for nothing. */
  | { readonly type: "not-run"; readonly why: string };

export interface Seconds {
  readonly agent: number;
  readonly verifier: number;
}

export interface AgentWork {
  readonly session: string;
  /** How it ended, e.g. `done`; `timeout` when the task's time was up. */
  readonly end: string;
  readonly steps: number;
  /** US dollars; null when it is not known. */
  readonly cost: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What one trial is, before it is made. */
export type TrialKey = Pick<Trial, "task" | "digest" | "agent" | "attempt" | "variant">;

export function trialFile({ task, agent, attempt }: TrialKey): string {
  const plain = (text: string): string => text.replace(/[^\w.-]+/g, "-");
  return `${plain(task)}__${plain(agent)}__${attempt}.json`;
}

/** Whole on the disk, or not there. */
export function writeTrial(folder: string, trial: Trial): void {
  mkdirSync(folder, { recursive: true });
  const target = join(folder, trialFile(trial));
  const part = `${target}.${process.pid}.part`;
  const file = openSync(part, "w", 0o644);
  writeSync(file, `${JSON.stringify(trial, undefined, 2)}\n`);
  fsyncSync(file);
  closeSync(file);
  renameSync(part, target);
}

/** What is no record of ours is left out. */
export function readTrials(folder: string): readonly Trial[] {
  return names(folder).flatMap((name) => {
    const trial = parseJson(readFileSync(join(folder, name), "utf8"));
    return isTrial(trial) ? [trial] : [];
  });
}

function names(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".json"))
      .sort();
  } catch {
    return [];
  }
}

function isTrial(value: unknown): value is Trial {
  if (typeof value !== "object" || value === null) return false;
  const { version, task, agent, attempt, digest, outcome } = value as Partial<Trial>;
  const isNamed = [task, agent, digest].every((one) => typeof one === "string");
  return version === 1 && isNamed && typeof attempt === "number" && typeof outcome?.type === "string";
}
