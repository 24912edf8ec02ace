/** Rows of the cost table: one per step, or one per group of steps in long sessions. */

import { addUsage, type MissCause, noUsage, type Usage } from "@lathe/protocol";
import type { StepCost } from "@lathe/sessions";

/** The most rows, however long the session is. */
const maxRows = 40;

export interface CostRow {
  /** `7` or `7-9`. */
  readonly steps: string;
  readonly model: string;
  readonly usage: Usage;
  readonly cost: number | undefined;
  /** The median of the group. */
  readonly firstMs: number;
  /** The sum of the group. */
  readonly ms: number;
  readonly retries: number;
  readonly misses: readonly {
    readonly cause: MissCause;
    readonly tokens: number;
    readonly idleMs?: number;
  }[];
}

export function costRows(steps: readonly StepCost[]): readonly CostRow[] {
  const size = Math.ceil(steps.length / maxRows);
  const groups = Array.from({ length: Math.ceil(steps.length / size) || 0 }, (_, at) =>
    steps.slice(at * size, (at + 1) * size),
  );
  return groups.map(rowOf);
}

function rowOf(steps: readonly StepCost[]): CostRow {
  const models = [...new Set(steps.map(({ model }) => model.slice(model.lastIndexOf("/") + 1)))];
  const costs = steps.flatMap(({ cost }) => cost ?? []);
  const [first, last] = [steps[0]?.step ?? 0, steps.at(-1)?.step ?? 0];
  return {
    steps: first === last ? `${first}` : `${first}-${last}`,
    model: models.length > 1 ? `${models[0]} +${models.length - 1}` : (models[0] ?? ""),
    usage: steps.reduce((sum, { usage = noUsage }) => addUsage(sum, usage), noUsage),
    cost: costs.length > 0 ? costs.reduce((sum, cost) => sum + cost, 0) : undefined,
    firstMs: middle(steps.map(({ firstMs }) => firstMs)),
    ms: steps.reduce((sum, { ms }) => sum + ms, 0),
    retries: steps.reduce((sum, { retries }) => sum + retries, 0),
    misses: steps.flatMap(({ cache }) => cache?.miss ?? []),
  };
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
