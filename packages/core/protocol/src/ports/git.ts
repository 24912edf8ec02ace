/** The git port: facts of an untrusted repository that need git itself, such as its history. */
import type { Failure } from "../failure.ts";

export interface Git {
  /**
   * Opens the repository that contains a folder. `writes`: a folder that git may write. *Contract:* nothing
   * that the repository names ever runs because of it. `not-found` where there is no repository,
   * `sandbox-unavailable` where git cannot be sandboxed.
   */
  open(folder: string, writes?: string): Promise<OpenRepository | Failure>;
}

export interface OpenRepository {
  /** Real path of the working tree. */
  readonly top: string;
  /** *Contract:* the commit of `HEAD`, or of a branch by its full name; undefined where there is none. */
  tip(name: string): string | undefined;
  /** *Contract:* the commits and branches that HEAD was on, in git's reflog lines; empty without a reflog. */
  headMoves(): string;
  /** *Contract:* resolves with git's output, one character per byte; name commits by their IDs. */
  run(args: readonly string[], asked?: GitOptions): Promise<string | Failure>;
  /** *Contract:* ends running commands; idempotent. */
  close(): Promise<void>;
}

export interface GitOptions {
  /** Standard input for git, one character per byte. */
  readonly input?: string;
  /**
   * The index that git uses: the repository's as it is now, or a separate one that persists between calls.
   */
  readonly index?: "repository" | "own";
  /** Another working tree: a folder inside the one that git may write. */
  readonly workTree?: string;
}
