/** Running: the options of attempts, and their observer. */
import type { AttemptResult, AttemptsVerdict } from "@lathe/protocol";
import type { AttemptHost } from "./attempt-host.ts";
import type { AttemptsLog } from "./attempts-log.ts";
import type { Place } from "./place.ts";

/** The progress of one attempt. */
export interface AttemptRow {
  readonly state: "working" | "testing" | "ended";
  readonly steps: number;
  readonly cost: number;
  readonly doing?: string;
  /** Present once the attempt has ended. */
  readonly result?: AttemptResult;
}

export interface Observer {
  onAttempt(at: number, row: AttemptRow): void;
  /** Each remark is one sentence. */
  onRemark(text: string): void;
}

/** The fate of the attempts: `keep` leaves all of them for a later decision, `drop` discards all. */
export type Decided = "take" | "keep" | "drop";

export interface Running {
  readonly host: Pick<AttemptHost, "sessions" | "enter" | "start">;
  readonly log: AttemptsLog;
  /** In the order of the attempts; undefined for a place that a person has applied or discarded. */
  readonly places: readonly (Place | undefined)[];
  /** How many attempts run at once at most. */
  readonly parallel: number;
  readonly testMs: number;
  /** The command line of a process of one attempt, with a model of its own. */
  worker(model: string | undefined): readonly string[];
  readonly observer: Observer;
  /** Asks a person before applying the best attempt, unless told not to; absent: keeps the attempts. */
  readonly decide?: (verdict: AttemptsVerdict, winner: Place) => Promise<Decided>;
  /** Interrupts all attempts. */
  readonly signal: AbortSignal;
}
