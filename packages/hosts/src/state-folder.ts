/** Where sessions and blobs are kept. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** `$XDG_STATE_HOME/lathe`, else `~/.local/state/lathe`; relative values of the variable are ignored, as the standard says. */
export function stateFolder(env: Readonly<Record<string, string | undefined>>): string {
  const state = env.XDG_STATE_HOME;
  const base = state && isAbsolute(state) ? state : join(env.HOME || homedir(), ".local", "state");
  return join(base, "lathe");
}
