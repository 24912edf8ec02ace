/** A simple command as it was found in a script, with its words expanded as far as they can be. */

import type { Word } from "../shell/word.ts";
import type { Origin } from "./inner.ts";
import type { ProgramCall } from "./program-call.ts";

export interface Redirect {
  readonly operator: string;
  readonly descriptor?: string | undefined;
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
  /** Links the script has made by then. */
  readonly links: ReadonlyMap<string, string | undefined>;
  /** Git's aliases, once they are looked up. */
  readonly gitAliases?: Readonly<Record<string, string>> | undefined;
  /** The script has told git of another repository. */
  readonly isGitElsewhere?: boolean;
  /** What it prints becomes names that other commands are given. */
  readonly isFeeding?: boolean;
  /** It runs something that cannot be told. */
  readonly undecided?: string;
  /** It runs a file or a program of the project that could not be read to its end. */
  readonly unfollowed?: string;
  /** Text in another language that it runs. */
  readonly code?: string;
}

/** Whether what is printed goes to a file, and not on. */
export function isDiverted({ operator, descriptor = "1", target }: Redirect): boolean {
  const isOutput = descriptor === "1" && /^&?>[>|]?$/u.test(operator);
  return isOutput && target.isLiteral && !/^\/(?:dev|proc)\//u.test(target.text);
}
