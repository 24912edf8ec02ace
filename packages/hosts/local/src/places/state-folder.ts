/** Where sessions and blobs are kept. */
import { createHash } from "node:crypto";
import { isAbsolute, join } from "node:path";
import { type Env, homeFolder } from "@lathe/system";

/** `$XDG_STATE_HOME/lathe`, else `~/.local/state/lathe`; relative values of the variable are ignored, as the standard says. */
export function stateFolder(env: Env): string {
  const state = env.XDG_STATE_HOME;
  const base = state && isAbsolute(state) ? state : join(homeFolder(env), ".local", "state");
  return join(base, "lathe");
}

/** Where forks lie until somebody decides on them. */
export function forksFolder(env: Readonly<Record<string, string | undefined>>): string {
  return join(stateFolder(env), "forks");
}

/** The folder of the state that belongs to one workspace, by its real path. */
export function workspaceFolder(env: Env, root: string): string {
  // What is half done in a fork is nothing to put back in its base.
  if (env.LATHE_FORK) return join(forksFolder(env), env.LATHE_FORK, "journal");
  const name = createHash("sha256").update(root).digest("hex").slice(0, 24);
  return join(stateFolder(env), "workspaces", name);
}
