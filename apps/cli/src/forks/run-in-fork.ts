/** `lathe run --fork`: runs the whole session in a fork of the folder, and settles its changes at the end. */

import { realFolder } from "@lathe/config";
import { type Fork, openForks } from "@lathe/hosts/attempts";
import { type Failure, isFailure } from "@lathe/protocol";
import { enterFork } from "./enter-fork.ts";
import { settleFork } from "./settle-fork.ts";

export interface InFork {
  readonly cwd: string;
  readonly keep: boolean;
  readonly about: string;
  /** An existing fork to continue in; absent for a new one. */
  readonly fork?: Fork;
}

export async function runInFork(
  argv: readonly string[],
  { cwd, keep, about, fork: waiting }: InFork,
): Promise<number | Failure> {
  const base = realFolder(cwd);
  if (isFailure(base)) return base;
  const fork = waiting ?? (await (await openForks(process.env)).open({ cwd: base, about }));
  if (isFailure(fork)) return fork;
  const code = await enterFork(fork, ["run", ...innerArgs(argv)]);
  if (isFailure(code)) return code;
  const canAsk = process.stdin.isTTY === true && process.stderr.isTTY === true && code !== 130;
  const settled = await settleFork(fork, { code, keep, canAsk });
  return code === 0 ? settled : code;
}

/** Drops the arguments that the outer process handles: the inner one already starts in the folder. */
export function innerArgs(argv: readonly string[]): readonly string[] {
  const end = argv.includes("--") ? argv.indexOf("--") : argv.length;
  return argv.filter((word, at) => {
    if (at >= end) return true;
    return (
      !["--fork", "--keep", "--cwd"].includes(word) && argv[at - 1] !== "--cwd" && !word.startsWith("--cwd=")
    );
  });
}
