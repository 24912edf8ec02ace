/** Local evals: runs suites and mines tasks in sandboxes of this machine. */
import * as evals from "@lathe/evals";
import type { Failure } from "@lathe/protocol";
import { hostsOfRegistries } from "@lathe/sandbox/registries";
import { linkFailure } from "@lathe/worktrees/git";
import type { LocalOptions } from "../local-options.ts";
import { createBoxedGit } from "../repository/boxed-git.ts";
import { type EvalShellPlace, openEvalShell } from "./eval-shell.ts";
import { openViews } from "./open-views.ts";

type Limits = Pick<LocalOptions, "sandboxLimits">;

export interface SuiteQuery extends evals.SuiteQuery, Limits {}
export interface MineQuery extends evals.MineQuery, Limits {}

export function runSuite(query: SuiteQuery): Promise<evals.SuiteResult | Failure> {
  return evals.runSuite(query, evalMachine(query));
}

export async function mineRepository(query: MineQuery): Promise<evals.Mined | Failure> {
  return linkFailure(query.repository) ?? evals.mineRepository(query, evalMachine(query));
}

/** Projects declare other registries in many files; the setup only needs these. */
const registries = ["npm", "pypi"] as const;

function evalMachine(place: EvalShellPlace): evals.EvalMachine {
  const { env } = place;
  return {
    git: createBoxedGit(env),
    openShell: (folder, wanted) => openEvalShell(folder, wanted, place),
    setUpReach: async (more, { cwd, projects }) =>
      more === "open"
        ? "open"
        : { hosts: [...more, ...(await hostsOfRegistries(registries, { cwd, env, projects }))] },
    openViews: (folder) => openViews(folder, place),
  };
}
