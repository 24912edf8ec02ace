/** Read experiment: compares the arms of an experiment from the logs of this machine. */
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { keptOf, openObservations } from "@lathe/keep-rate";
import { isFailure } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import { type Comparison, compareArms, readExposed } from "@lathe/telemetry";
import type { Experiment } from "@lathe/telemetry/experiments";
import { definitionOf } from "@lathe/telemetry/experiments";
import { stateFolder } from "../places/state-folder.ts";
import { openTelemetry } from "./open-telemetry.ts";

export interface ExperimentFound extends Comparison {
  /** A problem that the user should know. */
  readonly remark?: string;
}

export async function readExperiment(
  env: Env,
  experiment: Experiment,
  now: number,
): Promise<ExperimentFound> {
  const { facts, remark } = await openTelemetry(env);
  try {
    const found = compareIn(facts, env, { experiment, now });
    return { ...found, ...(remark !== undefined && { remark }) };
  } finally {
    facts.close();
  }
}

export interface NamedComparison {
  readonly name: string;
  readonly comparison: Comparison;
}

export async function readExperiments(
  env: Env,
  experiments: readonly Experiment[],
  now: number,
): Promise<readonly NamedComparison[]> {
  const { facts } = await openTelemetry(env);
  try {
    return experiments.map((experiment) => ({
      name: experiment.name,
      comparison: compareIn(facts, env, { experiment, now }),
    }));
  } finally {
    facts.close();
  }
}

/** `facts`: a database that is up to date with the logs. */
function compareIn(
  facts: DatabaseSync,
  env: Env,
  { experiment, now }: { readonly experiment: Experiment; readonly now: number },
): Comparison {
  const { name, arms, metric, guardrails } = experiment;
  const compared = { arms: arms.map((arm) => arm.name), definition: definitionOf(arms), metric, guardrails };
  const needsLines = [metric, ...guardrails].includes("lost-lines");
  const observations = needsLines ? openObservations(join(stateFolder(env), "keep.sqlite")) : undefined;
  const lines = observations && !isFailure(observations) ? observations : undefined;
  try {
    const linesOf = (session: string) => (lines ? keptOf(lines, session, "day") : undefined);
    const query = { experiment: name, now, ...(needsLines && { linesOf }) };
    return compareArms(readExposed(facts, query), compared);
  } finally {
    lines?.close();
  }
}
