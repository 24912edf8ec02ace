/** Local attempts: the attempt host on this machine, with the options of the command line. */
import type { AttemptHost } from "@lathe/attempts";
import { chooseModels } from "@lathe/models";
import { autoMode, isFailure } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import { localForks } from "../forks/local-forks.ts";
import { localHost } from "../local-host.ts";
import type { LocalOptions } from "../local-options.ts";
import { unknownModel } from "../models/model-gateway.ts";
import { localTrees } from "../worktrees/local-trees.ts";
import { startChild } from "./child-process.ts";
import { entrance } from "./entrance.ts";
import { findTestCommand } from "./find-test-command.ts";
import { forkMaker, forkPlace } from "./fork-place.ts";
import { refusedTests } from "./refused-tests.ts";
import { treeMaker, worktreePlace } from "./worktree-place.ts";

/** `self`: the command line that starts this program; arguments follow it. */
export function localAttempts(options: LocalOptions, self: readonly string[]): AttemptHost {
  const { env } = options;
  return {
    sessions: localHost(options),
    places: localPlaces(env, self),
    tests: {
      find: (cwd) => findTestCommand(cwd, env),
      refusal: (cwd, command) => refusedTests({ ...options, cwd }, command),
    },
    unknownModel: (models) => unknownModel({ ...options, models }),
    chain: (models) => {
      const mode = autoMode(models);
      const router = mode === undefined || isFailure(mode) ? undefined : { mode };
      return { models: chooseModels(models, env), ...(router && { router }) };
    },
    enter: (program, cwd) => entrance(program, { cwd, env }),
    start: startChild,
  };
}

export function localPlaces(env: Env, self: readonly string[]): AttemptHost["places"] {
  const [forks, trees] = [localForks(env), localTrees(env)];
  return {
    isInFork: Boolean(env.LATHE_FORK),
    forks: forkMaker({ env, self, forks }),
    trees: treeMaker(env, trees),
    refusedDirty: (cwd) => trees.refusedDirty(cwd),
    sweep: () => trees.sweep(),
    find: ({ type, id }) => {
      if (type === "fork") {
        const fork = forks.all().find((one) => one.id === id);
        return fork && forkPlace({ env, self, forks }, fork);
      }
      const tree = trees.all().find((one) => one.id === id);
      return tree?.made && worktreePlace(env, trees, { ...tree, made: tree.made });
    },
  };
}
