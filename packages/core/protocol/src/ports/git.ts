/** The git port: facts of an untrusted repository that need git itself, such as its history. */
import type { Failure } from "../failure.ts";

export interface Git {
  /**
   * The repository that a folder lies in. `writes`: a folder that git may write. *Contract:* nothing that the repository
   * names is run for it, then or later; `not-found` where there is none, `sandbox-unavailable` where git cannot be held.
   */
  open(folder: string, writes?: string): Promise<OpenRepository | Failure>;
}

export interface OpenRepository {
  /** Real path of the working tree. */
  readonly top: string;
  /** *Contract:* the commit of `HEAD`, or of a branch by its full name; undefined where there is none. */
  tip(name: string): string | undefined;
  /** *Contract:* which commits and branches HEAD was on, in lines as git keeps them; empty where it keeps none. */
  headMoves(): string;
  /** *Contract:* resolves with what git prints, one character per byte; commits are called by their ids. */
  run(args: readonly string[], asked?: GitOptions): Promise<string | Failure>;
  /** *Contract:* ends what runs; idempotent. */
  close(): Promise<void>;
}

export interface GitOptions {
  /** What git reads, one character per byte. */
  readonly input?: string;
  /** What git takes for checked out: the repository's index as it is now, or one of its own that stays from call to call. */
  readonly index?: "repository" | "own";
  /** Another working tree: a folder in the one that git may write. */
  readonly workTree?: string;
}
