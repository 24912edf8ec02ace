/** The name under which the user can run this command again, for texts that suggest a command. */
import { isBelow } from "@lathe/system/paths";

/**
 * npx finds Lathe only in the project that it was started from: elsewhere the name belongs to another
 * package.
 */
export function commandName(env: NodeJS.ProcessEnv, folder: string = process.cwd()): string {
  const project = env.npm_config_local_prefix;
  const isNpx = env.npm_command === "exec" && project !== undefined && isBelow(folder, project);
  return isNpx ? "npx lathe" : "lathe";
}
