/** Run trials: every agent at every task as often as wanted, some at a time; what is on record already is not done again. */
import { join } from "node:path";
import type { Task } from "../tasks/task.ts";
import { type Builder, layerKeys } from "./build-environment.ts";
import { type Environments, runTrial, type TrialPorts } from "./run-trial.ts";
import { readTrials, type Trial, type TrialKey, trialFile, writeTrial } from "./trial.ts";

export interface TrialAgent {
  readonly name: string;
  /** Of a variant: what its settings come to. */
  readonly definition?: string;
}

export interface TrialsWanted {
  readonly tasks: readonly Task[];
  readonly agents: readonly TrialAgent[];
  readonly attempts: number;
  readonly parallel: number;
  readonly records: string;
  /** Exists; for what is needed meanwhile. */
  readonly folder: string;
  readonly signal: AbortSignal;
  onStart(key: TrialKey): void;
  onEnd(trial: Trial): void;
}

export interface Trials {
  readonly trials: readonly Trial[];
  /** How many of them had been made before. */
  readonly found: number;
}

/** As the host gives them; which layers are shared is known here. */
export type SuitePorts = Omit<TrialPorts, "builder"> & { readonly builder: Omit<Builder, "layers"> };

export async function runTrials(wanted: TrialsWanted, ports: SuitePorts): Promise<Trials> {
  const { tasks, parallel, records, folder, signal } = wanted;
  const keys = keysOf(wanted);
  const known = new Map(readTrials(records).map((trial) => [trialFile(trial), trial]));
  const isMade = (key: TrialKey): boolean => {
    const trial = known.get(trialFile(key));
    // What could not be run may be possible by now.
    return trial?.outcome.type === "graded" && trial.digest === key.digest && trial.variant === key.variant;
  };
  const open = keys.filter((key) => !isMade(key));
  const byName = new Map(tasks.map((task) => [task.name, task]));
  const environments: Environments = new Map();
  const builder = { ...ports.builder, layers: countLayers(tasks) };
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < open.length && !signal.aborted) {
      const at = next++;
      const key = open[at] as TrialKey;
      wanted.onStart(key);
      const place = { ports: { ...ports, builder }, environments, folder: join(folder, "trials", `${at}`) };
      const trial = await runTrial(key, byName.get(key.task) as Task, place);
      // Half of a trial is none.
      if (signal.aborted) return;
      writeTrial(records, trial);
      known.set(trialFile(trial), trial);
      wanted.onEnd(trial);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, parallel) }, work));
  const trials = keys.flatMap((key) => known.get(trialFile(key)) ?? []);
  return { trials, found: keys.length - open.length };
}

/** In how many tasks each layer is. */
function countLayers(tasks: readonly Task[]): ReadonlyMap<string, number> {
  const all = tasks.flatMap(({ folder, build }) => {
    try {
      return build ? [...new Set(layerKeys({ folder }, build))] : [];
    } catch {
      // What cannot be read is said when it is built.
      return [];
    }
  });
  return new Map([...Map.groupBy(all, (key) => key)].map(([key, same]) => [key, same.length]));
}

/** All first attempts before the second ones: what is known early covers all tasks. */
function keysOf({ tasks, agents, attempts }: TrialsWanted): readonly TrialKey[] {
  const numbers = Array.from({ length: attempts }, (_, at) => at + 1);
  return numbers.flatMap((attempt) =>
    agents.flatMap(({ name: agent, definition: variant }) =>
      tasks.map(({ name, digest }) => ({
        task: name,
        digest,
        agent,
        attempt,
        ...(variant !== undefined && { variant }),
      })),
    ),
  );
}
