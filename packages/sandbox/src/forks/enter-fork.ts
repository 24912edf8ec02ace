/** How a trusted program is started that sees a fork in place of its base, and the rest of the machine as it is. */
import type { Fork } from "./fork.ts";

export interface Entering {
  readonly binary: string;
  /** Where it starts; as seen in the fork. */
  readonly cwd: string;
  /** Its absolute path, then its arguments. */
  readonly program: readonly string[];
}

/** The launcher could not enter the fork; why is on its stderr. */
export const notEntered = 125;

/** *Contract:* the launcher becomes the program; it ends with its parent, and the fork is open until it ends. */
export function enterArgs(
  { base, upper, work }: Fork,
  { binary, cwd, program }: Entering,
): readonly [string, ...string[]] {
  return [binary, "enter", base, upper, work, "--", cwd, ...program];
}
