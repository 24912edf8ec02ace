/** Starts a trusted program that sees a fork in place of its base, and the rest of the machine unchanged. */
import type { ForkLayers } from "@lathe/protocol";
import type { Fork } from "./fork.ts";

export interface Entering {
  readonly binary: string;
  /** The program's working folder, as seen in the fork. */
  readonly cwd: string;
  /** The program's absolute path, then its arguments. */
  readonly program: readonly string[];
  /** Layers over the same base to use instead of the fork's own. */
  readonly layers?: ForkLayers;
  /** The program cleans up after itself when its parent ends: it gets SIGTERM instead of SIGKILL. */
  readonly isAsked?: boolean;
}

/** *Contract:* the launcher becomes the program; it ends with its parent, and the fork is open until it ends. */
export function enterArgs(
  fork: Pick<Fork, "base" | keyof ForkLayers>,
  { binary, cwd, program, layers: { upper, work } = fork, isAsked = false }: Entering,
): readonly [string, ...string[]] {
  return [binary, "enter", fork.base, upper, work, isAsked ? "--ask" : "--", cwd, ...program];
}
