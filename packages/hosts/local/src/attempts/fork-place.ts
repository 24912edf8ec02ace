/** A fork as the place of an attempt. */
import { spawn } from "node:child_process";
import { copyLayers } from "@lathe/overlays";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import {
  compareFork,
  dropFork,
  type EnteringFork,
  enteringFork,
  type Fork,
  isCutOff,
} from "../forks/forks.ts";
import { keepFork } from "../forks/keep-fork.ts";
import { changesOf } from "./changes-of.ts";
import type { Entrance, Place } from "./place.ts";

export interface ForkMaker {
  readonly env: Env;
  /** Words that start this program. */
  readonly self: readonly string[];
}

export function forkPlace({ env, self }: ForkMaker, fork: Fork): Place {
  const entrance = async (entering: EnteringFork) => {
    const words = await enteringFork(env, fork, { ...entering, isAsked: true });
    return isFailure(words) ? words : { words, cwd: fork.base, env: { ...env, LATHE_FORK: fork.id } };
  };
  /** A process that died in the middle of a change has left it half done. */
  const mend = async (): Promise<Failure | undefined> => {
    if (!isCutOff(fork)) return undefined;
    const way = await entrance({ program: [...self, "fork", "mend"] });
    return isFailure(way) ? way : runQuietly(way);
  };
  return {
    enter: (program) => entrance({ program }),
    enterCopy: async (program) => {
      // The tests are of what would be taken over.
      const failed = await mend();
      if (failed) return failed;
      const copied = await copyLayers(fork);
      if (isFailure(copied)) return copied;
      const found = await entrance({ program, layers: copied.layers });
      if (!isFailure(found)) return { entrance: found, leave: async () => copied.remove() };
      copied.remove();
      return found;
    },
    changes: async (command) => {
      const failed = await mend();
      if (failed) return failed;
      const compared = await compareFork(env, fork);
      return isFailure(compared) ? compared : changesOf(compared.differences, { ...fork, command });
    },
    take: async (onRemark) => {
      const failed = await mend();
      if (failed) return failed;
      const kept = await keepFork(env, fork, { hostRun: false, force: false, onRemark });
      if (isFailure(kept)) return kept;
      const { kept: differences, ...rest } = kept;
      return { paths: differences.map(({ path }) => textOf(path)), ...rest };
    },
    drop: () => dropFork(env, fork),
    ways: {
      take: `fork keep ${fork.id}`,
      drop: `fork drop ${fork.id}`,
      look: `fork diff ${fork.id}`,
    },
  };
}

/** To its end, heard by nobody. */
function runQuietly({ words: [file, ...args], cwd, env }: Entrance): Promise<Failure | undefined> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { cwd, env, stdio: "ignore" });
    const fail = (why: string): void =>
      resolve(
        failure("no-access", `what was half done in the fork could not be mended: ${why}`, { who: "host" }),
      );
    child.once("error", (cause) => fail(cause.message));
    child.once("exit", (code) => (code === 0 ? resolve(undefined) : fail(`exit ${code}`)));
  });
}

function textOf(path: string): string {
  return Buffer.from(path, "latin1").toString();
}
