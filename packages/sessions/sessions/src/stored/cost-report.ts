/** What a session cost and where the money went, as data: a fold of its log, and its tree's account. */
import type { CacheReading, MissCause, Reservation, TreeCap, Usage } from "@lathe/protocol";

export interface CostReport {
  readonly id: string;
  readonly title: string;
  readonly cwd: string;
  readonly steps: readonly StepCost[];
  readonly total: Total;
  readonly models: readonly (Total & { readonly model: string; readonly steps: number })[];
  /** What the money of the answered steps bought, the dearest first. */
  readonly places: readonly Place[];
  readonly misses: readonly MissCost[];
  readonly failed: FailedCost;
  /** Attempts at a summary of the conversation, whatever became of them. */
  readonly summaries: readonly SummaryCost[];
  readonly switches: readonly { readonly from: string; readonly to: string; readonly why: string }[];
  /** Of all attempts, the one with no answer included. */
  readonly reserved: Reservation;
  readonly used: Reservation;
  readonly tree?: TreeCost;
}

export interface StepCost {
  /** Counted from 1, those that were taken back included. */
  readonly step: number;
  readonly at: number;
  readonly model: string;
  /** Absent when the provider told none. */
  readonly usage?: Usage;
  /** US dollars; absent when the price is unknown. */
  readonly cost?: number;
  readonly firstMs: number;
  readonly ms: number;
  readonly cache?: CacheReading;
  readonly reserved?: Reservation;
  /** Attempts that failed right before it. */
  readonly retries: number;
}

export interface SummaryCost {
  readonly at: number;
  readonly model: string;
  readonly usage?: Usage;
  /** US dollars; absent when the price or the usage is unknown. */
  readonly cost?: number;
  readonly ms: number;
  /** Why there is none. */
  readonly failure?: string;
}

/** `unpriced` steps are not in `cost`. */
export interface Total {
  readonly usage: Usage;
  readonly cost: number;
  readonly unpriced: number;
}

/**
 * What a part of the requests cost over all steps: each step's input is shared out to its parts by their length, in
 * their order, so that the parts in front are charged as cached, those behind as written or fresh.
 */
export interface Place {
  readonly place: "prompt" | "words" | "answers" | "tool" | "output" | "reasoning";
  /** Of `tool`. */
  readonly tool?: string;
  /** Tokens it had when it was first sent, or that were generated. */
  readonly tokens: number;
  /** Tokens charged, each time it was sent. */
  readonly charged: number;
  readonly cost: number;
}

export interface MissCost {
  readonly cause: MissCause;
  readonly times: number;
  readonly tokens: number;
  /** What they cost more than from the cache. */
  readonly cost: number;
}

export interface FailedCost {
  readonly attempts: number;
  /** By the failure's code. */
  readonly codes: Readonly<Record<string, number>>;
  readonly ms: number;
  /** What is held against the budget for them. */
  readonly charged: Reservation;
  /** Of them, those whose price is unknown: they are not in the cost. */
  readonly unpriced: number;
}

export interface TreeCost {
  readonly root: string;
  readonly cap: TreeCap;
  readonly tokens: number;
  readonly cost: number;
  readonly costUnknown: boolean;
  /** The other sessions of the tree, the dearest first. */
  readonly sessions: readonly {
    readonly id: string;
    readonly tokens: number;
    readonly cost: number;
    readonly costUnknown: boolean;
  }[];
  /** Held by attempts that run now. */
  readonly open: number;
}
