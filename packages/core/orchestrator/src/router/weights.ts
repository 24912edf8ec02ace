/** Weights: everything the router believes, as data of one shape; a trainer writes it, a host may load another. */
import type { Odds, RoutedRow, RouterMode } from "@lathe/protocol";

export type Tier = RoutedRow["tier"];
export type TaskClass = keyof Odds;

export interface Weights {
  readonly v: 1;
  /** Where they come from, for people. */
  readonly source: string;
  /** Logistic weights by feature (`bias` for the constant): that a task is more than light. */
  readonly beyondLight: Readonly<Record<string, number>>;
  /** The same: that a task that is more than light is hard. */
  readonly hard: Readonly<Record<string, number>>;
  /** Probability that a model of the tier does a task of the class right. */
  readonly quality: Readonly<Record<Tier, Odds>>;
  /** US dollars that a task of the class, done right, is worth in mode balanced. */
  readonly worth: Odds;
  /** The worth is multiplied by it. */
  readonly modes: Readonly<Record<RouterMode, number>>;
  /** Answers that a task of the class takes a medium model. */
  readonly steps: Odds;
  /** The steps are multiplied by it. */
  readonly pace: Readonly<Record<Tier, number>>;
  /** Tokens by which the context grows with each step, and of those answered. */
  readonly growth: number;
  readonly answer: number;
  /** Milliseconds a provider's cache lives without being used. */
  readonly cacheMs: number;
}

export const tiers: readonly Tier[] = ["small", "medium", "large"];
export const taskClasses: readonly TaskClass[] = ["light", "ordinary", "hard"];
