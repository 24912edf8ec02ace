/** Routing: what a router decided for a session, and from which table. */
import * as v from "valibot";

export const routerModes = ["cost", "balanced", "intelligence"] as const;
/** What counts more when they disagree: money, or the quality of the work. */
export type RouterMode = (typeof routerModes)[number];

export const routerModeSchema: v.GenericSchema<unknown, RouterMode> = v.picklist(routerModes);

/** Settings of a session whose models a router chooses among. */
export interface RouterSettings {
  readonly mode: RouterMode;
  /** How often another than the best is tried to learn from it, from 0 (never, the default) to 1. */
  readonly explore?: number;
}

/** How likely a task is light (the smallest models do it), ordinary or hard; adds up to 1. */
export interface Odds {
  readonly light: number;
  readonly ordinary: number;
  readonly hard: number;
}

export const oddsSchema: v.GenericSchema<unknown, Odds> = v.object({
  light: v.number(),
  ordinary: v.number(),
  hard: v.number(),
});

/** One model as the router saw it. */
export interface RoutedRow {
  readonly model: string;
  readonly tier: "small" | "medium" | "large";
  /** Probability that the work comes out right. */
  readonly quality: number;
  /** US dollars until the work is done: what goes in anew, what is read from the cache, what is answered. */
  readonly cost: { readonly prompt: number; readonly cache: number; readonly answer: number };
  /** Answers until the work is done. */
  readonly steps: number;
  /** What the quality is worth in the mode, less the cost; US dollars. */
  readonly score: number;
}

const dollars = v.object({ prompt: v.number(), cache: v.number(), answer: v.number() });

export const rowSchema: v.GenericSchema<unknown, RoutedRow> = v.object({
  model: v.string(),
  tier: v.picklist(["small", "medium", "large"]),
  quality: v.number(),
  cost: dollars,
  steps: v.number(),
  score: v.number(),
});

/** What the latest routing left: who comes next when the chosen model fails, and what it took the task for. */
export interface Route {
  /** The chosen model first, then the others, the best first. */
  readonly ranking: readonly string[];
  readonly odds: Odds;
}

/** A command of a turn that ended: how, and after how many answers of the turn. */
export interface Run {
  readonly input: string;
  readonly exitCode: number;
  readonly step: number;
}
