/** Local git box: runs git on a repository of this machine, in the sandbox. */
import type { Failure } from "@lathe/protocol";
import type { Containment } from "@lathe/sessions";
import { type Env, hostProgramPath } from "@lathe/system";
import { type GitBox, type GitBoxWish, maxGitOutput, openGitBox as openBox } from "@lathe/worktrees/git";
import { openPassingScratch } from "../places/scratch-folder.ts";
import { hiddenPlaces } from "../rules/own-places.ts";
import { openDriver } from "../sandbox/open-driver.ts";

/** *Contract:* without a working sandbox, a failure that says what to do: git then does not run at all. */
export function openGitBox(
  env: Env,
  wish: GitBoxWish,
  found?: Promise<Containment>,
): Promise<GitBox | Failure> {
  return openBox(
    {
      env,
      containment: (top) => found ?? driverFor(env, top),
      scratch: () => openPassingScratch("git"),
      hidden: (top) => hiddenPlaces(env, top),
      programs: (top) => hostProgramPath(env, top),
    },
    wish,
  );
}

const drivers = new Map<string, Promise<Containment>>();

/** Looks for the driver only once: the machine does not change between two calls. */
function driverFor(env: Env, workspace: string): Promise<Containment> {
  const key = JSON.stringify([env.HOME, env.XDG_CACHE_HOME, env.PATH, workspace]);
  const known = drivers.get(key);
  if (known) return known;
  const found = openDriver("required", {
    check: async () => undefined,
    env,
    workspace,
    outputCap: maxGitOutput,
    sandboxLimits: { wanted: {}, most: {} },
  });
  drivers.set(key, found);
  return found;
}
