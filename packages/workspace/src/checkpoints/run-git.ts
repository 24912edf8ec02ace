/** Runs git on the shadow repository with nothing of the user's: no configuration, no hooks, no variables, no secrets. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, statfsSync } from "node:fs";
import { setPriority } from "node:os";
import { type Failure, failure } from "@lathe/protocol";

export interface Git {
  /** The shadow repository. */
  readonly folder: string;
  /** The variable PATH, where git is looked for. */
  readonly path: string;
}

export interface GitRun {
  readonly input?: string | Buffer;
  readonly cwd?: string;
  /** Instead of the shadow repository; with its working tree. */
  readonly repository?: { readonly folder: string; readonly tree: string };
  /** A status other than 0 that is no failure. */
  readonly accepts?: number;
  /** Yields to everything else on the machine. */
  readonly quiet?: boolean;
  readonly timeoutMs?: number;
}

const oldest: readonly [number, number] = [2, 20];
const timeoutMs = 20_000;
/** Less than this is left: the disk is full. */
const fullBytes = 4 * 1024 * 1024;

/** The output; a failure when git cannot be run or does not succeed. */
export function runGit(git: Git, args: readonly string[], run: GitRun = {}): Promise<Buffer | Failure> {
  return new Promise((resolve) => {
    const child = spawnGit(git, args, run);
    const out: Buffer[] = [];
    const errors: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr?.on("data", (chunk: Buffer) => errors.push(chunk));
    // A git that ends early closes its input; its exit status says why.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(run.input);
    child.on("error", (error) => resolve(notRunning(error, run.cwd)));
    child.on("close", (status, signal) => {
      if (status === 0 || (status !== null && status === run.accepts)) return resolve(Buffer.concat(out));
      const said = Buffer.concat(errors).toString("utf8").trim();
      resolve(gitFailure(git, `git ${args.join(" ")} (${status ?? signal}): ${said}`));
    });
  });
}

export function spawnGit(git: Git, args: readonly string[], run: GitRun = {}): ChildProcess {
  const child = spawn("git", args, {
    cwd: run.cwd ?? git.folder,
    env: environment(git, run),
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true,
  });
  // Node's own timer would keep the process alive when there is no git.
  const timer = setTimeout(() => child.kill("SIGKILL"), run.timeoutMs ?? timeoutMs);
  timer.unref();
  child.once("close", () => clearTimeout(timer));
  if (run.quiet && child.pid !== undefined) {
    try {
      setPriority(child.pid, 10);
    } catch {
      // It has ended already, or priorities are not ours to set: it only takes more of the machine.
    }
  }
  return child;
}

function environment({ folder, path }: Git, { repository }: GitRun): NodeJS.ProcessEnv {
  return {
    PATH: path,
    LC_ALL: "C",
    // Git before 2.32 knows no GIT_CONFIG_GLOBAL; here it finds no configuration either.
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_DIR: repository?.folder ?? folder,
    ...(repository && { GIT_WORK_TREE: repository.tree }),
  };
}

/** Undefined when there is a git that can do all this. */
export async function missingGit(git: Git): Promise<Failure | undefined> {
  const out = await runGit(git, ["version"]);
  if (!Buffer.isBuffer(out)) return out;
  const [, major = "0", minor = "0"] = /git version ([0-9]+)\.([0-9]+)/.exec(out.toString()) ?? [];
  const isOld = Number(major) < oldest[0] || (Number(major) === oldest[0] && Number(minor) < oldest[1]);
  if (!isOld) return undefined;
  return failure("config-invalid", `Checkpoints need git ${oldest.join(".")} or later, here is ${out}.`, {
    who: "host",
  });
}

function notRunning(error: NodeJS.ErrnoException, folder: string | undefined): Failure {
  // The system says the same of a folder to run in that is not there.
  if (folder !== undefined && !existsSync(folder))
    return failure("not-found", `${folder} does not exist any more.`);
  const why = error.code === "ENOENT" ? "git was not found" : `git could not be run (${error.code})`;
  return failure("config-invalid", `Checkpoints are off: ${why}. Install git ${oldest.join(".")} or later.`, {
    who: "host",
    cause: error,
  });
}

/** Git's status says nothing of the disk. */
function gitFailure({ folder }: Git, text: string): Failure {
  const { bavail, bsize } = statfsSync(folder);
  const code = bavail * bsize < fullBytes ? "disk-full" : "no-access";
  return failure(code, `The checkpoint store could not be used: ${text}`, { who: "store" });
}
