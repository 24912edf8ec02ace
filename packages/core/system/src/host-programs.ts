/** Host programs: where the user's own programs are, for what Lathe starts outside the sandbox. */
import { barredFolders } from "./barred-folders.ts";
import { findProgram, hostPath } from "./find-program.ts";
import type { Env } from "./user-folders.ts";

/** `workspace`: whose programs do not count, nor those around it; the current folder when absent. */
export function hostProgram(name: string, env: Env, workspace: string = process.cwd()): string | undefined {
  return findProgram(name, { path: env.PATH, outside: barredFolders(workspace, env) });
}

/** The variable PATH without relative entries and those of the workspace and what is around it. */
export function hostProgramPath(env: Env, workspace: string = process.cwd()): string {
  return hostPath({ path: env.PATH, outside: barredFolders(workspace, env) });
}
