/** Runs the user's git in a folder, without hooks, prompts and monitors; what is not a success is a failure. */
import { execFile } from "node:child_process";
import { type Failure, failure } from "@lathe/protocol";
import { noPrograms } from "@lathe/system/git-settings";

type Env = Readonly<Record<string, string | undefined>>;

const mostOutput = 256 * 1024 * 1024;
/** What would lead it to another repository than that of the folder. */
const misleading = /^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|NAMESPACE|PREFIX)$/;

/** *Contract:* resolves with what it prints, of one character per byte. */
export function gitIn(cwd: string, args: readonly string[], env: Env): Promise<string | Failure> {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !misleading.test(name)));
  const options = {
    ...{ cwd, maxBuffer: mostOutput, encoding: "latin1" as const },
    env: { ...own, GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" },
  };
  return new Promise((done) => {
    execFile("git", [...noPrograms, ...args], options, (cause, stdout, stderr) => {
      if (!cause) return done(stdout);
      const said = Buffer.from(stderr, "latin1").toString().trim().split("\n").at(-1);
      const text = `git ${args[0]} in ${cwd}: ${said || cause.message}`;
      done(failure("no-access", text, { who: "user", cause }));
    });
  });
}
