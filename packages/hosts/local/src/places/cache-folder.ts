/** Where is kept what can be made again. */
import { isAbsolute, join } from "node:path";
import { homeFolder } from "./home-folder.ts";

/** `$XDG_CACHE_HOME/lathe`, else `~/.cache/lathe`; relative values of the variable are ignored, as the standard says. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>): string {
  const cache = env.XDG_CACHE_HOME;
  return join(cache && isAbsolute(cache) ? cache : join(homeFolder(env), ".cache"), "lathe");
}
