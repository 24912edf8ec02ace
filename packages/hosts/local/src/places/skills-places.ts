/** Skills places: of the user's configuration the one folder that sessions may read, as their skills tell them to. */
import { realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { configFolder, realOr } from "@lathe/system";

/** The folder, where it is there; what a link in its place leads to is somewhere else, and asked for like that. */
export function skillsPlaces(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const config = configFolder(env);
  const path = join(config, "skills");
  try {
    const isOwn = realpathSync(path) === join(realOr(config), "skills");
    return isOwn && statSync(path).isDirectory() ? [path] : [];
  } catch {
    return [];
  }
}
