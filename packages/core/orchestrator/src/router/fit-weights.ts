/**
 * Fit weights: from samples of sessions, by gradient ascent on their likelihood. The probability that a tier
 * does a task right is a mixture over the task's possible classes, so the fit changes the classes' weights
 * and the tiers' qualities. A penalty pulls both to the initial weights: few samples change little.
 */
import { logistic, weigh } from "./difficulty.ts";
import type { Sample } from "./samples.ts";
import { type TaskClass, type Tier, taskClasses, tiers, type Weights } from "./weights.ts";

/** How many samples weigh as much as the prior weights. */
export interface FitWeightsOptions {
  /** For the tiers' qualities: there are nine, and they differ from team to team. */
  readonly quality: number;
  /** For the class weights: there are many, and what makes a task hard is similar everywhere. */
  readonly classes: number;
  readonly rounds: number;
}

type Numbers = Record<string, number>;

interface Parameters {
  readonly more: Numbers;
  readonly hard: Numbers;
  /** Logits of the qualities, by tier and class. */
  readonly quality: Numbers;
}

const step = 0.5;
const keyOf = (tier: Tier, task: TaskClass): string => `${tier} ${task}`;

/** *Contract:* deterministic; weights that are not learned stay unchanged. */
export function fitWeights(samples: readonly Sample[], from: Weights, options: FitWeightsOptions): Weights {
  const start = parametersOf(from);
  let now = start;
  const memory: Parameters = { more: {}, hard: {}, quality: {} };
  for (let round = 0; round < options.rounds && samples.length > 0; round++) {
    const gradient = gradientOf(samples, now);
    const move = (name: keyof Parameters): Numbers =>
      moved(now[name], {
        gradient: gradient[name],
        start: start[name],
        memory: memory[name],
        pull: (name === "quality" ? options.quality : options.classes) / samples.length,
      });
    now = { more: move("more"), hard: move("hard"), quality: move("quality") };
  }
  const quality = Object.fromEntries(
    tiers.map((tier) => [
      tier,
      Object.fromEntries(
        taskClasses.map((task) => [task, rounded(logistic(now.quality[keyOf(tier, task)] ?? 0))]),
      ),
    ]),
  ) as unknown as Weights["quality"];
  return { ...from, beyondLight: all(now.more), hard: all(now.hard), quality };
}

function all(numbers: Numbers): Numbers {
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, rounded(value)]));
}

function rounded(value: number): number {
  return Number(value.toFixed(4));
}

function parametersOf({ beyondLight, hard, quality }: Weights): Parameters {
  const logits = tiers.flatMap((tier) =>
    taskClasses.map((task) => {
      const p = Math.min(0.995, Math.max(0.005, quality[tier][task]));
      return [keyOf(tier, task), Math.log(p / (1 - p))] as const;
    }),
  );
  return { more: { ...beyondLight }, hard: { ...hard }, quality: Object.fromEntries(logits) };
}

interface Move {
  readonly gradient: Numbers;
  readonly start: Numbers;
  /** Squares of earlier gradients, by name: steps shrink after large gradients (AdaGrad). */
  readonly memory: Numbers;
  readonly pull: number;
}

function moved(values: Numbers, { gradient, start, memory, pull }: Move): Numbers {
  const next: Numbers = { ...values };
  for (const name of new Set([...Object.keys(values), ...Object.keys(gradient)])) {
    const at = values[name] ?? 0;
    const slope = (gradient[name] ?? 0) - pull * (at - (start[name] ?? 0));
    memory[name] = (memory[name] ?? 0) + slope * slope;
    next[name] = at + (step * slope) / (1e-6 + Math.sqrt(memory[name] ?? 0));
  }
  return next;
}

function gradientOf(samples: readonly Sample[], now: Parameters): Parameters {
  const sum: Parameters = { more: {}, hard: {}, quality: {} };
  for (const sample of samples) addGradient(sample, now, { sum, share: 1 / samples.length });
  return sum;
}

function addGradient(
  { features, tier, alone }: Sample,
  now: Parameters,
  { sum, share }: { readonly sum: Parameters; readonly share: number },
): void {
  const more = logistic(weigh(features, now.more));
  const hard = logistic(weigh(features, now.hard));
  const odds = { light: 1 - more, ordinary: more * (1 - hard), hard: more * hard };
  const quality = (task: TaskClass): number => logistic(now.quality[keyOf(tier, task)] ?? 0);
  const [light, ordinary, heavy] = taskClasses.map(quality) as [number, number, number];
  const p = odds.light * light + odds.ordinary * ordinary + odds.hard * heavy;
  const slope = (share * (alone - p)) / Math.max(1e-4, p * (1 - p));
  for (const task of taskClasses) {
    const q = quality(task);
    add(sum.quality, keyOf(tier, task), slope * odds[task] * q * (1 - q));
  }
  const byMore = slope * more * (1 - more) * (ordinary * (1 - hard) + heavy * hard - light);
  const byHard = slope * more * hard * (1 - hard) * (heavy - ordinary);
  add(sum.more, "bias", byMore);
  add(sum.hard, "bias", byHard);
  for (const [name, value] of Object.entries(features)) {
    add(sum.more, name, byMore * value);
    add(sum.hard, name, byHard * value);
  }
}

function add(numbers: Numbers, name: string, value: number): void {
  numbers[name] = (numbers[name] ?? 0) + value;
}
