/** Run suite: a suite's tasks in sandboxes of this machine, each agent a process of its own, the records in a folder. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  type AgentSummary,
  readSuite,
  runTrials,
  type SuitePorts,
  summarize,
  type Trial,
  type TrialKey,
  type Trials,
} from "@lathe/evals";
import { type Failure, isFailure } from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";
import { runEvalAgent } from "./eval-agent.ts";
import { openEvalFolder, removeFolder } from "./eval-folder.ts";
import { openEvalShell } from "./eval-shell.ts";
import { openViews } from "./open-views.ts";
import { setUpReach } from "./set-up-reach.ts";
import type { Contestant } from "./variants.ts";

export type { AgentSummary, Estimate, RunComparison, Trial, TrialKey } from "@lathe/evals";

export interface SuiteQuery extends Pick<LocalOptions, "env" | "sandboxLimits"> {
  readonly suite: string;
  readonly contestants: readonly Contestant[];
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
  onRemark(text: string): void;
}

export interface SuiteResult extends Trials {
  readonly agents: readonly AgentSummary[];
}

/** The folder of a run that holds its records. */
export const trialsFolder = "trials";

export async function runSuite(query: SuiteQuery): Promise<SuiteResult | Failure> {
  const { suite, contestants, attempts, out } = query;
  const tasks = readSuite(suite);
  if (isFailure(tasks)) return tasks;
  query.onPlan(tasks.length * contestants.length * attempts);
  const folder = openEvalFolder(out);
  if (isFailure(folder)) return folder;
  try {
    const ports = await openPorts(query, folder.path);
    if (isFailure(ports)) return ports;
    const agents = contestants.map(({ name, variant }) => ({
      name,
      ...(variant && { definition: variant.definition }),
    }));
    const wanted = { ...query, agents, tasks, records: join(out, trialsFolder), folder: folder.path };
    const made = await runTrials(wanted, ports);
    return { ...made, agents: summarize(made.trials) };
  } finally {
    await folder.close();
  }
}

async function openPorts(query: SuiteQuery, folder: string): Promise<SuitePorts | Failure> {
  const { env } = query;
  const work = join(folder, "set-up");
  mkdirSync(work);
  const projects = [query.suite, process.cwd()];
  const reach = await setUpReach(query.reach, { cwd: folder, env, projects });
  const openSetUp = (path: string) => openEvalShell(path, reach, { ...query, installs: true, projects });
  // Where no sandbox can be had that is said once, and not by each task.
  const tried = await openSetUp(work);
  if (isFailure(tried)) return tried;
  await tried.close();
  if (tried.remark !== undefined) query.onRemark(tried.remark);
  const views = await openViews(folder, query);
  const hasViews = !isFailure(views);
  if (!hasViews) query.onRemark(`Each trial works on copies, which take their time: ${views.text}`);
  const found = hasViews ? { views } : {};
  return {
    builder: { openShell: openSetUp, folder: work, path: env.PATH ?? "" },
    ...found,
    openShell: (path, layers) => openEvalShell(path, { hosts: [] }, { ...query, layers }),
    remove: removeFolder,
    runAgent: (call) => runEvalAgent({ ...query, ...found }, call),
    now: () => Date.now(),
  };
}
