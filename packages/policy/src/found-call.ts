/** A simple command as it was found in a script, with its words expanded as far as they can be. */
import type { Origin } from "./inner.ts";
import type { ProgramCall } from "./program-call.ts";
import type { Word } from "./word.ts";

export interface Redirect {
  readonly operator: string;
  readonly target: Word;
}

/** One simple command, with its words expanded as far as they can be. */
export interface FoundCall {
  readonly words: readonly Word[];
  /** The command itself, and what its wrappers run. */
  readonly calls: readonly ProgramCall[];
  readonly assignments: readonly string[];
  readonly redirects: readonly Redirect[];
  /** Where it runs, as a glob; absent when it cannot be told. */
  readonly folder: string | undefined;
  readonly raw: string;
  readonly origin: Origin;
  /** It runs something that cannot be told. */
  readonly undecided?: string;
  /** Text in another language that it runs. */
  readonly code?: string;
}
