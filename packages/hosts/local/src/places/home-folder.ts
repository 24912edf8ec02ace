/** Home: the folder of the user, whatever the environment says; never one below the folder that is worked in. */
import { homedir, userInfo } from "node:os";
import { isAbsolute } from "node:path";

/** A user without any has `/`, as at a login: nothing can be kept there, and that is said. */
export function homeFolder(env: Readonly<Record<string, string | undefined>>): string {
  return absolute(env.HOME) ?? absolute(homedir()) ?? absolute(registered()) ?? "/";
}

function absolute(path: string | undefined): string | undefined {
  return path && isAbsolute(path) ? path : undefined;
}

/** As the system knows it. */
function registered(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}
