/** Read experiment: the arms of an experiment compared, from the logs of this machine. */
import { type Comparison, compareArms, readExposed } from "@lathe/telemetry";
import { definitionOf } from "../experiments/assign.ts";
import type { Experiment } from "../experiments/experiment.ts";
import { openTelemetry } from "./open-telemetry.ts";

export type { ArmDifference, ArmFigures, Comparison, MetricResult } from "@lathe/telemetry";

export interface ExperimentFound extends Comparison {
  /** What the user should know of it. */
  readonly remark?: string;
}

export async function readExperiment(
  env: Readonly<Record<string, string | undefined>>,
  { name, arms, metric, guardrails }: Experiment,
  now: number,
): Promise<ExperimentFound> {
  const { facts, remark } = await openTelemetry(env);
  try {
    const compared = {
      arms: arms.map((arm) => arm.name),
      definition: definitionOf(arms),
      metric,
      guardrails,
    };
    const found = compareArms(readExposed(facts, name, now), compared);
    return { ...found, ...(remark !== undefined && { remark }) };
  } finally {
    facts.close();
  }
}
