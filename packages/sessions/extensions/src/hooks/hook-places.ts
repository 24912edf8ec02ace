/** Hook places: the files that define hooks; small, so a session without hooks loads no more than this. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { configFolder } from "@lathe/system";
import type { ExtensionPlace } from "../files/extension-place.ts";

/** Relative to the workspace. */
export const projectHookFiles: readonly string[] = [
  ".claude/settings.json",
  ".claude/settings.local.json",
  ".agents/hooks.json",
];

export function userHooksFile(env: ExtensionPlace["env"]): string {
  return join(configFolder(env), "hooks.json");
}

export function mayHaveHooks({ cwd, env }: ExtensionPlace): boolean {
  return mayHaveProjectHooks(cwd) || existsSync(userHooksFile(env));
}

export function mayHaveProjectHooks(cwd: string): boolean {
  return projectHookFiles.some((name) => existsSync(join(cwd, name)));
}
