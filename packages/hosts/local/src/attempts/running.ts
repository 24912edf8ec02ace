/** What attempts are run with, and who watches them. */
import type { AttemptResult, AttemptsVerdict } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import type { AttemptsLog } from "./attempts-log.ts";
import type { Place } from "./place.ts";

/** Where one attempt is. */
export interface AttemptRow {
  readonly state: "working" | "testing" | "ended";
  readonly steps: number;
  readonly cost: number;
  readonly doing?: string;
  /** Once it has ended. */
  readonly result?: AttemptResult;
}

export interface Observer {
  onAttempt(at: number, row: AttemptRow): void;
  /** In one sentence. */
  onRemark(text: string): void;
}

/** What becomes of them: with `keep` all wait to be decided on, with `drop` all go. */
export type Decided = "take" | "keep" | "drop";

export interface Running {
  readonly env: Env;
  readonly log: AttemptsLog;
  /** In the order of the attempts; undefined for one that somebody has decided on already. */
  readonly places: readonly (Place | undefined)[];
  /** At most so many at once. */
  readonly parallel: number;
  readonly testMs: number;
  /** Words that start this program as the process of one attempt; with models of its own. */
  worker(model: string | undefined): readonly string[];
  readonly observer: Observer;
  /** Asked before the best one is taken over, of attempts of which none is unasked; absent: none is. */
  readonly decide?: (verdict: AttemptsVerdict, winner: Place) => Promise<Decided>;
  /** Interrupts all. */
  readonly signal: AbortSignal;
}
