/** Host programs: finds the user's own programs that Lathe starts outside the sandbox. */
import { barredFolders } from "./barred-folders.ts";
import { findProgram, hostPath } from "./find-program.ts";
import type { Env } from "./user-folders.ts";

/** `workspace`: programs in it and around it are ignored; the current folder if absent. */
export function hostProgram(name: string, env: Env, workspace: string = process.cwd()): string | undefined {
  return findProgram(name, { path: env.PATH, outside: barredFolders(workspace, env) });
}

/** The variable PATH without relative entries, and without those in or around the workspace. */
export function hostProgramPath(env: Env, workspace: string = process.cwd()): string {
  return hostPath({ path: env.PATH, outside: barredFolders(workspace, env) });
}
