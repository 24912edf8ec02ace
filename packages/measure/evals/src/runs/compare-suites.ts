/** Compare suites: two runs' records over the same tasks. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { compareRuns, type RunComparison } from "../figures/summary.ts";
import { readTrials, type Trial } from "../trials/trial.ts";
import { trialsFolder } from "./trials-folder.ts";

/** A run's folder and one of its agents; the agent is absent if the run has only one. */
export interface ComparedRun {
  readonly folder: string;
  readonly agent?: string;
}

export function compareSuites(first: ComparedRun, second: ComparedRun): RunComparison | Failure {
  const [a, b] = [trialsOf(first), trialsOf(second)];
  if (isFailure(a)) return a;
  return isFailure(b) ? b : compareRuns(a, b);
}

function trialsOf({ folder, agent }: ComparedRun): readonly Trial[] | Failure {
  const path = join(folder, trialsFolder);
  const trials = existsSync(path) ? readTrials(path) : [];
  const wrong = (text: string): Failure => failure("not-found", text, { who: "user" });
  if (trials.length === 0)
    return wrong(`${folder} holds no trials; it is the --out folder of a \`lathe eval\``);
  const agents = [...new Set(trials.map((trial) => trial.agent))].sort();
  if (agent === undefined && agents.length > 1)
    return wrong(`${folder} has trials of ${agents.join(", ")}; say which: ${folder}:${agents[0]}`);
  const wanted = agent ?? agents[0];
  const own = trials.filter((trial) => trial.agent === wanted);
  return own.length > 0 ? own : wrong(`${folder} has no trials of ${wanted}; it has ${agents.join(", ")}`);
}
