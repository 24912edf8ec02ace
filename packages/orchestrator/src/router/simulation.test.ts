/**
 * Simulation: sessions of several turns with prompt caches, played by policies that choose models.
 * The world's probabilities and costs are stated here, apart from what the router believes; nothing is measured on models.
 */
import { costOf, type Odds, type Price, ratesOf } from "@lathe/protocol";
import type { Candidate } from "./route.ts";
import type { LabelledTask } from "./tasks.test.ts";
import { type TaskClass, type Tier, tiers } from "./weights.ts";

/** Uniform in [0, 1). */
export type Random = () => number;

/** Mulberry32. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Of the catalogue's snapshot: Claude Haiku, Sonnet and Opus 5.5, US dollars per million tokens. */
export const prices: Readonly<Record<Tier, Price>> = {
  small: {
    input: 0.1,
    cached: 0.01,
    written: 0.125,
    output: 0.5,
    tiers: [{ above: 100_000, input: 0.5, cached: 0.05, written: 0.625, output: 2.5 }],
  },
  medium: { input: 2, cached: 0.2, written: 2.5, output: 10 },
  large: { input: 4, cached: 0.2, written: 5, output: 20 },
};

export const candidates: readonly Candidate[] = tiers.map((tier) => ({
  tier,
  price: prices[tier],
  info: { id: tier, window: 1_000_000, maxOutput: 64_000, price: prices[tier] },
}));

export interface World {
  /** Probability of success; each task shifts them all by a logit of its own. */
  readonly quality: Readonly<Record<Tier, Odds>>;
  readonly steps: Odds;
  readonly pace: Readonly<Record<Tier, number>>;
  /** Of a model that is failing: that it shows. Of one that is not: that it looks so. */
  readonly shows: number;
  readonly looks: number;
  /** Of the next turn: that it begins while the cache lives. */
  readonly warm: number;
  readonly growth: number;
  readonly answer: number;
  /** Tokens of prompt and tools. */
  readonly prompt: number;
}

/** Deliberately not what the router believes: everybody is somewhat worse, and work takes other lengths. */
export const world: World = {
  quality: {
    small: { light: 0.94, ordinary: 0.56, hard: 0.14 },
    medium: { light: 0.965, ordinary: 0.87, hard: 0.48 },
    large: { light: 0.975, ordinary: 0.93, hard: 0.78 },
  },
  steps: { light: 5, ordinary: 12, hard: 28 },
  pace: { small: 1.3, medium: 1, large: 0.9 },
  shows: 0.5,
  looks: 0.04,
  warm: 0.6,
  growth: 2000,
  answer: 500,
  prompt: 8000,
};

/** One task of a session, with what chance has in store for it. */
export interface Turn {
  readonly task: LabelledTask;
  /** A model succeeds when this is below its probability: an abler model succeeds wherever a weaker one does. */
  readonly luck: number;
  readonly secondLuck: number;
  readonly shift: number;
  readonly length: number;
  readonly isWarm: boolean;
  readonly showLuck: number;
}

export type PlayedSession = readonly Turn[];

export function drawSessions(tasks: readonly LabelledTask[], count: number, seed: number): readonly PlayedSession[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => {
    const turns = 1 + Math.floor(-Math.log(1 - random()) * 2.5);
    return Array.from({ length: Math.min(8, turns) }, () => drawTurn(tasks, random));
  });
}

function drawTurn(tasks: readonly LabelledTask[], random: Random): Turn {
  const task = tasks[Math.floor(random() * tasks.length)];
  if (!task) throw new Error("no tasks");
  const normal = (): number => random() + random() + random() + random() - 2;
  return {
    task,
    luck: random(),
    secondLuck: random(),
    shift: normal(),
    length: Math.exp(0.6 * normal()),
    isWarm: random() < world.warm,
    showLuck: random(),
  };
}

/** What a policy may see, and for an oracle the truth. */
export interface Seen {
  readonly turn: Turn;
  readonly context: number;
  /** Tokens held, by model. */
  readonly cached: Readonly<Record<string, number>>;
  readonly current?: Tier;
  readonly earlier?: Odds;
  readonly evidence: boolean;
}

export interface Choice {
  readonly tier: Tier;
  readonly odds?: Odds;
  readonly propensity?: number;
}

export type Policy = (seen: Seen) => Choice;

/** One turn as it was played. */
export interface Played {
  readonly seen: Seen;
  readonly choice: Choice;
  readonly success: number;
  readonly cost: number;
  readonly switches: number;
}

export function successOf(tier: Tier, { task, shift }: Turn): number {
  const p = world.quality[tier][task.task];
  return 1 / (1 + Math.exp(-(Math.log(p / (1 - p)) + 0.7 * shift)));
}

interface Held {
  context: number;
  caches: Record<string, number>;
}

export function play(session: PlayedSession, policy: Policy): readonly Played[] {
  const held: Held = { context: world.prompt, caches: {} };
  let current: Tier | undefined;
  let earlier: Odds | undefined;
  return session.map((turn) => {
    if (!turn.isWarm) held.caches = {};
    const seen: Seen = {
      turn,
      context: held.context,
      cached: { ...held.caches },
      evidence: false,
      ...(current && { current }),
      ...(earlier && { earlier }),
    };
    const choice = policy(seen);
    const played = playTurn({ seen, choice, held, policy });
    current = played.tier;
    earlier = played.odds;
    return { seen, choice, ...played };
  });
}

interface Playing {
  readonly seen: Seen;
  readonly choice: Choice;
  readonly held: Held;
  readonly policy: Policy;
}

function playTurn({ seen, choice, held, policy }: Playing): {
  readonly success: number;
  readonly cost: number;
  readonly switches: number;
  readonly tier: Tier;
  readonly odds?: Odds;
} {
  const { turn } = seen;
  const { tier } = choice;
  const lengthOf = (one: Tier): number =>
    Math.max(1, Math.round(world.steps[turn.task.task] * turn.length * world.pace[one]));
  const succeeds = turn.luck < successOf(tier, turn);
  const switched = seen.current !== undefined && seen.current !== tier ? 1 : 0;
  const shows = turn.showLuck < (succeeds ? world.looks : world.shows);
  const odds = choice.odds ? { odds: choice.odds } : {};
  const steps = lengthOf(tier);
  if (!shows) {
    return { success: succeeds ? 1 : 0, cost: work(tier, steps, held), switches: switched, tier, ...odds };
  }
  const cost = work(tier, Math.max(1, Math.ceil(steps * 0.6)), held);
  const next = policy({
    ...seen,
    context: held.context,
    cached: { ...held.caches },
    current: tier,
    evidence: true,
    ...(choice.odds && { earlier: choice.odds }),
  });
  const rest = work(next.tier, Math.max(1, Math.ceil(lengthOf(next.tier) * 0.8)), held);
  const moved = next.tier !== tier;
  const success = moved ? turn.secondLuck < 0.95 * rescueOf(next.tier, tier, turn) || succeeds : succeeds;
  return {
    success: success ? 1 : 0,
    cost: cost + rest,
    switches: switched + (moved ? 1 : 0),
    tier: next.tier,
    ...(next.odds ? { odds: next.odds } : odds),
  };
}

/** That an abler model does what a weaker one has failed at. */
function rescueOf(next: Tier, failed: Tier, turn: Turn): number {
  const before = successOf(failed, turn);
  return Math.max(0, (successOf(next, turn) - before) / (1 - before));
}

/** Dollars of so many steps; the context and the caches grow with them. */
function work(tier: Tier, steps: number, held: Held): number {
  let cost = 0;
  for (let i = 0; i < steps; i++) {
    const cached = Math.min(held.caches[tier] ?? 0, held.context);
    const written = held.context - cached;
    cost += costOf({ input: held.context, cached, written, output: world.answer, reasoning: 0 }, prices[tier]) ?? 0;
    held.caches[tier] = held.context;
    held.context += world.growth;
  }
  return cost;
}

/** Knows the task and every probability, and looks one turn ahead: what it gains at so many dollars a success. */
export function oracle(worth: Odds): Policy {
  return (seen) => {
    const gains = tiers.map((tier) => ({ tier, gain: gainOf(tier, seen, worth) }));
    return { tier: gains.reduce((a, b) => (b.gain > a.gain ? b : a)).tier };
  };
}

function gainOf(tier: Tier, { turn, context, cached, evidence, current }: Seen, worth: Odds): number {
  const task: TaskClass = turn.task.task;
  const steps = world.steps[task] * turn.length * world.pace[tier];
  const rates = ratesOf(prices[tier], context + (steps / 2) * world.growth);
  const warm = Math.min(context, cached[tier] ?? 0);
  const middle = context + (steps / 2) * world.growth;
  const tokens = (context - warm + steps * world.growth) * rates.written + steps * middle * rates.cached;
  const cost = (tokens + steps * world.answer * rates.output) / 1e6;
  const p = evidence && current ? (tier === current ? 0 : rescueOf(tier, current, turn)) : successOf(tier, turn);
  return p * worth[task] - cost;
}
