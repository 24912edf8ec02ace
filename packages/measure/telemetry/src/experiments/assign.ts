/** Assign: gives a session its arm in each experiment, by a hash alone. */
import { createHash } from "node:crypto";
import type { Assignment } from "@lathe/protocol";
import type { Experiment } from "./experiment.ts";

/** Deterministic for a session and experiment; `root` is the root of the session tree. */
export function assign(experiments: readonly Experiment[], root: string): readonly Assignment[] {
  return experiments.map(({ name, arms }) => {
    const total = arms.reduce((sum, { weight }) => sum + weight, 0);
    const shares = Object.fromEntries(arms.map((arm) => [arm.name, arm.weight / total]));
    let left = fraction(`${name}\n${root}`) * total;
    const found = arms.find(({ weight }) => {
      left -= weight;
      return left < 0;
    });
    const arm = found ?? arms.findLast(({ weight }) => weight > 0);
    if (!arm) throw new Error(`the experiment ${name} has no arms`);
    return {
      experiment: name,
      arm: arm.name,
      shares,
      set: arm.set,
      definition: definitionOf(arms),
      moment: momentOf(arms),
    };
  });
}

/** At least 0, below 1. */
function fraction(text: string): number {
  return createHash("sha256").update(text).digest().readUIntBE(0, 6) / 2 ** 48;
}

/** Weights may change during an experiment; other settings of the arms define a new experiment. */
export function definitionOf(arms: Experiment["arms"]): string {
  const sets = arms.map(({ name, set }) => [name, sorted(set)]);
  return createHash("sha256").update(JSON.stringify(sets)).digest("hex").slice(0, 12);
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, inner]) => [key, sorted(inner)]);
}

/** Depends on all arms: a session that sets nothing counts from the same moment. */
export function momentOf(arms: Experiment["arms"]): Assignment["moment"] {
  const varied = arms.flatMap(({ set }) => Object.keys(set));
  return varied.every((field) => field === "summaryModel") ? "summary" : "attempt";
}

/** The arms of a resumed session: it keeps those of experiments that are unchanged. */
export function stillAssigned(
  had: readonly Assignment[],
  experiments: readonly Experiment[],
): readonly Assignment[] {
  return had.filter(({ experiment, definition }) => {
    const now = experiments.find(({ name }) => name === experiment);
    return now !== undefined && definitionOf(now.arms) === definition;
  });
}
