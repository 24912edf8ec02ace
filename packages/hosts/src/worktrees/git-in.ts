/** Runs the user's git in a folder, without hooks, prompts and monitors; what is not a success is a failure. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { noPrograms } from "@lathe/system/git-settings";

type Env = Readonly<Record<string, string | undefined>>;

export interface GitPlace {
  readonly cwd: string;
  /** Another index than the working tree's own. */
  readonly index?: string | undefined;
  /** What it reads, of one character per byte. */
  readonly input?: string;
}

const mostOutput = 256 * 1024 * 1024;
/** What would lead it to another repository than that of the folder. */
const misleading = /^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|NAMESPACE|PREFIX)$/;

/** Milliseconds; together more than git takes to write a few lines on a busy machine. */
const pauses = [10, 20, 40, 80, 160, 320, 640];
/** Git goes through all working trees of the repository, also one that another git is making at the moment: it has an entry with an empty file. */
const halfMade = /: fatal: failed to read (.*\/worktrees\/[^/]+)\/commondir: [^/]*$/;

/** *Contract:* resolves with what it prints, of one character per byte. */
export async function gitIn(
  place: string | GitPlace,
  args: readonly string[],
  env: Env,
): Promise<string | Failure> {
  let ended = await runGit(place, args, env);
  for (const pause of pauses) {
    if (!isFailure(ended) || !halfMade.test(ended.text)) return ended;
    await setTimeout(pause);
    ended = await runGit(place, args, env);
  }
  return isFailure(ended) ? withWayOut(ended, typeof place === "string" ? place : place.cwd) : ended;
}

function withWayOut(failed: Failure, cwd: string): Failure {
  const entry = halfMade.exec(failed.text)?.[1];
  if (entry === undefined) return failed;
  const text = `${failed.text}; that working tree was cut off while it was made: remove ${resolve(cwd, entry)}`;
  return { ...failed, text };
}

function runGit(place: string | GitPlace, args: readonly string[], env: Env): Promise<string | Failure> {
  const { cwd, index, input = "" } = typeof place === "string" ? { cwd: place } : place;
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !misleading.test(name)));
  const options = {
    ...{ cwd, maxBuffer: mostOutput, encoding: "latin1" as const },
    env: {
      ...{ ...own, GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" },
      ...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
    },
  };
  return new Promise((done) => {
    const git = execFile("git", [...noPrograms, ...args], options, (cause, stdout, stderr) => {
      if (!cause) return done(stdout);
      const said = Buffer.from(stderr, "latin1").toString().trim().split("\n").at(-1);
      const gone = existsSync(cwd) ? undefined : "this folder is gone";
      const text = `git ${subcommandOf(args)} in ${cwd}: ${gone ?? (said || cause.message)}`;
      done(failure("no-access", text, { who: "user", cause }));
    });
    // One that ends before it has read all says why itself.
    git.stdin?.on("error", () => undefined).end(Buffer.from(input, "latin1"));
  });
}

function subcommandOf(args: readonly string[]): string {
  return args.find((word, index) => !word.startsWith("-") && args[index - 1] !== "-c") ?? "";
}
