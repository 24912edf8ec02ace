/** Session options: what a session runs with, whichever host runs it. */
import type {
  Assignment,
  Delta,
  Effort,
  Event,
  GuardRails,
  Limits,
  Mode,
  Rule,
  Session,
  Tool,
} from "@lathe/protocol";

/** Hears every event of a tree of sessions, to tell others of it. */
export interface SessionExporter {
  /** *Contract:* returns at once, and never throws. */
  event(event: Event, session: Session): void;
  /** *Contract:* sends what is left; resolves with what got lost, in one sentence. Idempotent. */
  close(): Promise<string | undefined>;
}

export interface SessionOptions {
  /**
   * Model ids, the preferred one first, or `auto`, which lets a router choose. Empty keeps a session's own; a new session
   * then gets what the host chooses.
   */
  readonly models: readonly string[];
  /** The model that makes plans; absent where the models that carry them out do. */
  readonly planner?: string;
  /** How much models that reason may think; absent: as their providers have it. */
  readonly effort?: Effort;
  readonly mode: Mode;
  /** Whether a person can answer questions. */
  readonly attended: boolean;
  /** Whether the end of a background command may begin a turn now; absent: never. */
  readonly wakes?: () => boolean;
  readonly limits: Limits;
  /** Whether the files are kept before steps that may change them. */
  readonly checkpoints: boolean;
  /** The user's and the project's rules, beside the built-in ones. */
  readonly rules: readonly Rule[];
  /** The model that is asked about calls which rules leave open; absent: a person is. */
  readonly secondOpinion?: string;
  /** The model that summarizes conversations which are too long; absent: their own. */
  readonly summaryModel?: string;
  /** Tools of the program that runs the session, beside the built-in ones. */
  readonly tools?: readonly Tool[];
  /** The widest mode that may be chosen later; absent: any. */
  readonly widest?: Mode;
  /** The arms of experiments that the session has; the rest of the options is set accordingly. */
  readonly assigned?: readonly Assignment[];
  /** Hears every event beside `onEvent`. The session of a person closes it. */
  readonly exporter?: SessionExporter;
  /** Replaces what the profiles of the models say. */
  readonly guardRails?: GuardRails;
  /** Version of Lathe, for the log. */
  readonly version: string;
  onEvent(event: Event, session: Session): void;
  onDelta(delta: Delta): void;
  /** Hears in one sentence what had to be fixed meanwhile. */
  onRemark?(text: string): void;
}
