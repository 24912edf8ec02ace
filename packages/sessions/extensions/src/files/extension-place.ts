/** Extension place: where extensions are searched, and whether commands there could write the user's own. */
import { resolve } from "node:path";
import { configFolder, type Env, isBelow, leadsInto } from "@lathe/system";

export interface ExtensionPlace {
  /** Real path of the workspace. */
  readonly cwd: string;
  readonly env: Env;
}

/**
 * Whether commands in the workspace can write the user's configuration. Its name being inside is enough: a
 * command could replace a link there that leads out.
 */
export function isConfigWritable({ cwd, env }: ExtensionPlace): boolean {
  const folder = configFolder(env);
  return isBelow(resolve(folder), cwd) || leadsInto(folder, cwd);
}
