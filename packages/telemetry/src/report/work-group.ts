/** Work group: figures of the steps and turns of one model, profile, project or version. */
import type { StepFact, TurnFact } from "../events/facts.ts";
import { type Spread, spreadOf } from "./quantile.ts";

/** Times in milliseconds, money in US dollars; absent where there is nothing to say it of. */
export interface WorkGroup {
  readonly name: string;
  readonly sessions: number;
  readonly turns: number;
  /** Turns that ended otherwise than done. */
  readonly badTurns: number;
  readonly steps: number;
  /** Attempts that failed. */
  readonly retries: number;
  readonly failovers: number;
  readonly asked: number;
  readonly firstMs?: Spread;
  readonly stepMs?: Spread;
  readonly turnMs?: Spread;
  /** To a passing test. */
  readonly testMs?: Spread;
  readonly tokens: {
    readonly fresh: number;
    readonly cached: number;
    readonly written: number;
    readonly output: number;
  };
  /** Part of the input that was read from a cache. */
  readonly hitRate?: number;
  readonly calls: number;
  readonly cost: number;
  /** Steps whose price is not known. */
  readonly unpriced: number;
}

export interface OpenGroup {
  readonly sessions: Set<string>;
  readonly samples: Readonly<Record<"first" | "step" | "turn" | "test", number[]>>;
  readonly sums: Record<Sum, number>;
}

type Sum =
  | "turns"
  | "badTurns"
  | "steps"
  | "retries"
  | "failovers"
  | "asked"
  | "fresh"
  | "cached"
  | "written"
  | "output"
  | "calls"
  | "cost"
  | "unpriced";

export function openGroup(): OpenGroup {
  const sums = { turns: 0, badTurns: 0, steps: 0, retries: 0, failovers: 0, asked: 0, fresh: 0, cached: 0 };
  return {
    sessions: new Set(),
    samples: { first: [], step: [], turn: [], test: [] },
    sums: { ...sums, written: 0, output: 0, calls: 0, cost: 0, unpriced: 0 },
  };
}

export function addStep({ sums, samples, sessions }: OpenGroup, step: StepFact, session: string): void {
  sessions.add(session);
  if (step.code !== null) {
    sums.retries += 1;
    return;
  }
  sums.steps += 1;
  for (const part of ["fresh", "cached", "written", "output", "calls"] as const) sums[part] += step[part];
  sums.cost += step.cost ?? 0;
  if (step.cost === null) sums.unpriced += 1;
  samples.step.push(step.ms);
  if (step.firstMs !== null) samples.first.push(step.firstMs);
}

export function addTurn({ sums, samples, sessions }: OpenGroup, turn: TurnFact, session: string): void {
  sessions.add(session);
  sums.turns += 1;
  if (turn.end !== "done") sums.badTurns += 1;
  sums.failovers += turn.failovers;
  sums.asked += turn.asked;
  samples.turn.push(turn.ms - turn.waitedMs);
  if (turn.testMs !== null) samples.test.push(turn.testMs);
}

export function closeGroup(name: string, { sessions, samples, sums }: OpenGroup): WorkGroup {
  const { fresh, cached, written, output, ...counts } = sums;
  const spreads = {
    firstMs: spreadOf(samples.first),
    stepMs: spreadOf(samples.step),
    turnMs: spreadOf(samples.turn),
    testMs: spreadOf(samples.test),
  };
  const known = Object.entries(spreads).filter(([, spread]) => spread !== undefined);
  const input = fresh + cached + written;
  return {
    name,
    sessions: sessions.size,
    ...counts,
    ...Object.fromEntries(known),
    tokens: { fresh, cached, written, output },
    ...(input > 0 && { hitRate: cached / input }),
  };
}
