/** Ask git: what git says of a folder within a given time, for those who can do without an answer. */
import { noPrograms } from "@lathe/system/git-settings";

type Env = Readonly<Record<string, string | undefined>>;

export interface GitQuestion {
  readonly cwd: string;
  readonly env: Env;
  /** Milliseconds. */
  readonly patienceMs: number;
}

const mostOutput = 4 * 1024 * 1024;

/** *Contract:* never rejects; nothing where there is no git or no repository, or where it takes longer. Writes nothing. */
export async function askGit(
  args: readonly string[],
  { cwd, env, patienceMs }: GitQuestion,
): Promise<string> {
  const { execFile } = await import("node:child_process");
  const options = {
    ...{ cwd, timeout: patienceMs, maxBuffer: mostOutput },
    env: { ...env, GIT_OPTIONAL_LOCKS: "0" },
  };
  return new Promise((done) => {
    execFile("git", [...noPrograms, ...args], options, (error, stdout) => done(error ? "" : stdout));
  });
}
