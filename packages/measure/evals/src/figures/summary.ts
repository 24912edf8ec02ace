/** Summary: statistics of each agent's trials, and of two runs over the same tasks. */
import type { Trial } from "../trials/trial.ts";
import {
  bootstrapMean,
  comparePaired,
  type Estimate,
  mean,
  type Paired,
  passPower,
  wilson,
} from "./intervals.ts";

export interface AgentSummary {
  readonly agent: string;
  readonly tasks: number;
  readonly trials: number;
  readonly solved: number;
  /** Tasks without a graded trial, with the reason. */
  readonly notRun: readonly { readonly task: string; readonly why: string }[];
  /** Wilson's interval over tasks if each had one outcome in all its trials, else bootstrapped over tasks. */
  readonly pass1?: Estimate;
  /** All of `k` trials succeed; absent below two, or if no task has that many. */
  readonly passK?: Estimate & { readonly k: number };
  /** US dollars of all trials; null if one of them is unknown. */
  readonly cost: number | null;
  /** Average seconds that the agent took. */
  readonly seconds: number;
}

export interface RunComparison {
  readonly agents: readonly [string, string];
  /** Tasks with graded trials in both runs, and with the same files. */
  readonly tasks: number;
  readonly paired?: Paired;
}

/** A trial solves its task if it gets the whole reward. */
function isSolved({ outcome }: Trial): boolean {
  return outcome.type === "graded" && outcome.reward >= 1;
}

/** By agent, in the order of their names. */
export function summarize(trials: readonly Trial[]): readonly AgentSummary[] {
  const agents = [...Map.groupBy(trials, ({ agent }) => agent)].sort(([a], [b]) => (a < b ? -1 : 1));
  return agents.map(([agent, all]) => summaryOf(agent, all));
}

function summaryOf(agent: string, trials: readonly Trial[]): AgentSummary {
  const byTask = [...Map.groupBy(trials, ({ task }) => task)].sort(([a], [b]) => (a < b ? -1 : 1));
  const graded = byTask.flatMap(([, all]) => {
    const counted = all.filter(({ outcome }) => outcome.type === "graded");
    return counted.length > 0 ? [counted] : [];
  });
  const notRun = byTask.flatMap(([task, all]) => {
    const whys = all.flatMap(({ outcome }) => (outcome.type === "not-run" ? [outcome.why] : []));
    return whys.length === all.length && whys[0] !== undefined ? [{ task, why: whys[0] }] : [];
  });
  const counted = graded.flat();
  const solved = counted.filter(isSolved).length;
  const pass1 = estimateOf(graded.map(shareSolved));
  const costs = counted.map(({ work }) => (work ? work.cost : 0));
  return {
    agent,
    tasks: graded.length,
    trials: counted.length,
    solved,
    notRun,
    ...(pass1 && { pass1 }),
    ...powerOf(graded),
    cost: costs.includes(null) ? null : costs.reduce<number>((sum, one) => sum + (one ?? 0), 0),
    seconds: mean(counted.map(({ seconds }) => seconds.agent)),
  };
}

/** If every task had only one outcome, a bootstrap over few tasks would claim too much. */
function estimateOf(shares: readonly number[]): Estimate | undefined {
  const isWhole = shares.every((share) => share === 0 || share === 1);
  return isWhole
    ? wilson(shares.filter((share) => share === 1).length, shares.length)
    : bootstrapMean(shares);
}

function powerOf(graded: readonly (readonly Trial[])[]): Pick<AgentSummary, "passK"> {
  const k = Math.max(0, ...graded.map((all) => all.length));
  if (k < 2) return {};
  const powers = graded.flatMap((all) => passPower(all.filter(isSolved).length, all.length, k) ?? []);
  const estimate = estimateOf(powers);
  return estimate ? { passK: { ...estimate, k } } : {};
}

function shareSolved(trials: readonly Trial[]): number {
  return mean(trials.map((trial) => (isSolved(trial) ? 1 : 0)));
}

/** Compares the second with the first; each contains one agent's trials. */
export function compareRuns(first: readonly Trial[], second: readonly Trial[]): RunComparison {
  const [before, after] = [sharesOf(first), sharesOf(second)];
  const both = [...before.keys()].filter((task) => after.has(task)).sort();
  const of = (shares: ReadonlyMap<string, number>): readonly number[] =>
    both.map((task) => shares.get(task) ?? 0);
  const paired = comparePaired(of(before), of(after));
  const agents = [first[0]?.agent ?? "", second[0]?.agent ?? ""] as const;
  return { agents, tasks: both.length, ...(paired && { paired }) };
}

/** By task and its files. */
function sharesOf(trials: readonly Trial[]): ReadonlyMap<string, number> {
  const graded = trials.filter(({ outcome }) => outcome.type === "graded");
  const byTask = Map.groupBy(graded, ({ task, digest }) => `${task} ${digest}`);
  return new Map([...byTask].map(([task, all]) => [task, shareSolved(all)]));
}
