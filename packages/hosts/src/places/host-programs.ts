/** Host programs: where the user's own programs are, for what Lathe starts outside the sandbox. */
import { findProgram, hostPath } from "@lathe/system/find-program";

type Env = Readonly<Record<string, string | undefined>>;

/** `workspace`: whose programs do not count; the current folder when absent. */
export function hostProgram(name: string, env: Env, workspace: string = process.cwd()): string | undefined {
  return findProgram(name, { path: env.PATH, outside: [workspace] });
}

/** The variable PATH without relative entries and those inside the workspace. */
export function hostProgramPath(env: Env, workspace: string = process.cwd()): string {
  return hostPath({ path: env.PATH, outside: [workspace] });
}
