/** How a trusted program is started that sees a fork in place of its base, and the rest of the machine as it is. */
import type { ForkLayers } from "@lathe/protocol";
import type { Fork } from "./fork.ts";

export interface Entering {
  readonly binary: string;
  /** Where it starts; as seen in the fork. */
  readonly cwd: string;
  /** Its absolute path, then its arguments. */
  readonly program: readonly string[];
  /** Other layers over the same base. */
  readonly layers?: ForkLayers;
  /** It tidies up by itself when its parent ends: it is sent SIGTERM in place of SIGKILL. */
  readonly isAsked?: boolean;
}

/** *Contract:* the launcher becomes the program; it ends with its parent, and the fork is open until it ends. */
export function enterArgs(
  fork: Pick<Fork, "base" | keyof ForkLayers>,
  { binary, cwd, program, layers: { upper, work } = fork, isAsked = false }: Entering,
): readonly [string, ...string[]] {
  return [binary, "enter", fork.base, upper, work, isAsked ? "--ask" : "--", cwd, ...program];
}
