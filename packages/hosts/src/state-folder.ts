/** Where sessions and blobs are kept. */
import { isAbsolute, join } from "node:path";
import { homeFolder } from "./home-folder.ts";

/** `$XDG_STATE_HOME/lathe`, else `~/.local/state/lathe`; relative values of the variable are ignored, as the standard says. */
export function stateFolder(env: Readonly<Record<string, string | undefined>>): string {
  const state = env.XDG_STATE_HOME;
  const base = state && isAbsolute(state) ? state : join(homeFolder(env), ".local", "state");
  return join(base, "lathe");
}
