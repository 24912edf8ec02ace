/** Reads commits with git: their messages and the files they touched. */
import { type Git, isFailure } from "@lathe/protocol";

export interface Commit {
  readonly message: string;
  readonly paths: readonly string[];
}

const most = 10_000;
const begin = "\u0001";
const split = "\u0002";

/** `since`: older ones are left out. */
export interface CommitRange {
  readonly head: string;
  readonly since?: string;
}

/** *Contract:* newest first; undefined when git cannot be asked, or does not know `since`. */
export async function readCommits(
  git: Git,
  root: string,
  { head, since }: CommitRange,
): Promise<readonly Commit[] | undefined> {
  const repository = await git.open(root);
  if (isFailure(repository)) return undefined;
  try {
    const range = since === undefined ? head : `${since}..${head}`;
    const form = ["--no-merges", "--no-renames", "--no-ext-diff", "--name-only"];
    const args = ["log", `-n${most}`, ...form, `--format=${begin}%B${split}`, range, "--"];
    const printed = await repository.run(args);
    return isFailure(printed) ? undefined : commitsIn(Buffer.from(printed, "latin1").toString());
  } finally {
    await repository.close();
  }
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
