/** The git port on a test's own repository, with git on this machine. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Failure, failure, type Git, isFailure, type OpenRepository } from "@lathe/protocol";

/** `env` is git's whole environment. */
export function plainGit(env: NodeJS.ProcessEnv): Git {
  return { open: (folder) => openPlain(folder, env) };
}

async function openPlain(folder: string, env: NodeJS.ProcessEnv): Promise<OpenRepository | Failure> {
  const found = await run(folder, ["rev-parse", "--show-toplevel"], { env });
  if (isFailure(found)) return failure("not-found", found.text, { who: "user" });
  const top = found.trimEnd();
  const own = mkdtempSync(join(tmpdir(), "lathe-plain-git-"));
  const tips = await run(top, ["for-each-ref", "--format=%(refname) %(objectname)"], { env });
  const head = await run(top, ["rev-parse", "--verify", "--quiet", "HEAD"], { env });
  return {
    top,
    tip: (name) => {
      if (name === "HEAD") return isFailure(head) ? undefined : head.trim();
      const lines = isFailure(tips) ? [] : tips.split("\n");
      return lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
    },
    headMoves: () => movesIn(top),
    run: (args, { input = "", index, workTree } = {}) =>
      run(top, args, {
        input,
        env: {
          ...env,
          ...(index === "own" && { GIT_INDEX_FILE: join(own, "index") }),
          ...(workTree !== undefined && { GIT_DIR: join(top, ".git"), GIT_WORK_TREE: workTree }),
        },
      }),
    close: async () => rmSync(own, { recursive: true, force: true }),
  };
}

function movesIn(top: string): string {
  try {
    return readFileSync(join(top, ".git/logs/HEAD"), "utf8");
  } catch {
    return "";
  }
}

function run(
  cwd: string,
  args: readonly string[],
  { env, input = "" }: { readonly env: NodeJS.ProcessEnv; readonly input?: string },
): Promise<string | Failure> {
  return new Promise((done) => {
    const options = { cwd, env, encoding: "latin1", maxBuffer: 2 ** 28 } as const;
    const child = execFile("git", [...args], options, (cause, printed) =>
      done(cause ? failure("no-access", String(cause), { who: "user", cause }) : printed),
    );
    child.stdin?.on("error", () => undefined).end(Buffer.from(input, "latin1"));
  });
}
