/** Run suite: a suite's tasks in sandboxes of this machine, each agent a process of its own, the records in a folder. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  type AgentSummary,
  type OpenShell,
  readSuite,
  runTrials,
  summarize,
  type Trial,
  type TrialKey,
  type TrialPorts,
  type Trials,
} from "@lathe/evals";
import { type Failure, isFailure } from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";
import { runEvalAgent } from "./eval-agent.ts";
import { openEvalFolder } from "./eval-folder.ts";
import { openEvalShell } from "./eval-shell.ts";
import { setUpReach } from "./set-up-reach.ts";

export type { AgentSummary, Estimate, RunComparison, Trial, TrialKey } from "@lathe/evals";

export interface SuiteQuery extends Pick<LocalOptions, "env" | "sandboxLimits"> {
  readonly suite: string;
  /** Models, and `oracle` and `nop`. */
  readonly agents: readonly string[];
  readonly attempts: number;
  readonly parallel: number;
  readonly out: string;
  readonly reach: readonly string[] | "open";
  /** Program and arguments that start Lathe. */
  readonly command: readonly [string, ...string[]];
  readonly signal: AbortSignal;
  /** Told once, when it is known how many trials there are. */
  onPlan(trials: number): void;
  onStart(key: TrialKey): void;
  onEnd(trial: Trial): void;
}

export interface SuiteResult extends Trials {
  readonly agents: readonly AgentSummary[];
}

/** The folder of a run that holds its records. */
export const trialsFolder = "trials";

export async function runSuite(query: SuiteQuery): Promise<SuiteResult | Failure> {
  const { suite, agents, attempts, out, env } = query;
  const tasks = readSuite(suite);
  if (isFailure(tasks)) return tasks;
  query.onPlan(tasks.length * agents.length * attempts);
  const folder = openEvalFolder(out);
  if (isFailure(folder)) return folder;
  const work = join(folder.path, "set-up");
  mkdirSync(work);
  const setUp = await openEvalShell(work, await setUpReach(query.reach), query);
  if (isFailure(setUp)) {
    await folder.close();
    return setUp;
  }
  try {
    const ports: TrialPorts = {
      builder: { shell: setUp.run, folder: work, path: env.PATH ?? "" },
      openShell: (path): Promise<OpenShell | Failure> => openEvalShell(path, { hosts: [] }, query),
      runAgent: (call) => runEvalAgent(query, call),
      now: () => Date.now(),
    };
    const wanted = { ...query, tasks, records: join(out, trialsFolder), folder: folder.path };
    const made = await runTrials(wanted, ports);
    return { ...made, agents: summarize(made.trials) };
  } finally {
    await setUp.close();
    await folder.close();
  }
}
