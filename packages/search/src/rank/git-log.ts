/** Reads commits with git: their messages and the files they touched. */
import { execFile } from "node:child_process";
import { noPrograms } from "@lathe/system/git-settings";

export interface Commit {
  readonly message: string;
  readonly paths: readonly string[];
}

const most = 10_000;
const maxBytes = 256 * 1024 * 1024;
const begin = "\u0001";
const split = "\u0002";

/** *Contract:* newest first; undefined when git is missing, or does not know `since`. */
export function readCommits(
  top: string,
  { since, env }: { readonly since?: string; readonly env: NodeJS.ProcessEnv },
): Promise<readonly Commit[] | undefined> {
  const range = since === undefined ? ["HEAD"] : [`${since}..HEAD`];
  const form = ["--no-merges", "--no-renames", "--no-ext-diff", "--name-only", `--format=${begin}%B${split}`];
  const args = [
    "--no-pager",
    ...noPrograms,
    "-c",
    "core.quotePath=false",
    "log",
    `-n${most}`,
    ...form,
    ...range,
    "--",
  ];
  const options = { cwd: top, maxBuffer: maxBytes, encoding: "utf8", env } as const;
  const { promise, resolve } = Promise.withResolvers<readonly Commit[] | undefined>();
  execFile("git", args, options, (error, printed) => resolve(error ? undefined : commitsIn(printed)));
  return promise;
}

function commitsIn(printed: string): readonly Commit[] {
  return printed
    .split(begin)
    .slice(1)
    .map((piece) => {
      const [message = "", names = ""] = piece.split(split);
      return { message, paths: names.split("\n").filter((name) => name !== "" && !name.startsWith('"')) };
    });
}
