/** Where the user's own configuration lies. */
import { isAbsolute, join } from "node:path";
import { homeFolder } from "./home-folder.ts";

/** `$XDG_CONFIG_HOME/lathe`, else `~/.config/lathe`; relative values of the variable are ignored, as the standard says. */
export function configFolder(env: Readonly<Record<string, string | undefined>>): string {
  const config = env.XDG_CONFIG_HOME;
  return join(config && isAbsolute(config) ? config : join(homeFolder(env), ".config"), "lathe");
}
