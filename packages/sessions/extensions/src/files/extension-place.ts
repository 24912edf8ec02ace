/** Extension place: where extensions are looked for, and whether commands there could write the user's own. */
import { resolve } from "node:path";
import { configFolder, type Env, isInside, liesIn } from "@lathe/system";

export interface ExtensionPlace {
  /** Real path of the workspace. */
  readonly cwd: string;
  readonly env: Env;
}

/**
 * Whether the user's configuration is in the workspace, by its name or by its real path: a command may have written it, or
 * may put another link in the place of one that leads out.
 */
export function isInReach({ cwd, env }: ExtensionPlace): boolean {
  const folder = configFolder(env);
  return isInside(cwd, resolve(folder)) || liesIn(folder, cwd);
}
