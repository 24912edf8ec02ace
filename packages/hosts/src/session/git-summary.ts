/** Git summary: what of the workspace is changed, and where it has further instructions, as git says at once. */
import { statSync } from "node:fs";
import { join, relative } from "node:path";
import { askGit } from "./ask-git.ts";

/** The start of a session does not wait longer than this; what git has not said by then is left out. */
const patienceMs = 150;
/** Files that are named; the others are counted. */
const named = 6;
const namedInstructions = 20;
/** Changed files whose times are looked at. */
const timed = 50;

export interface GitSummary {
  /** For example `2 changed (src/a.ts, b.ts), 1 untracked`; absent where nothing is, or nobody knows. */
  readonly changes?: string;
  /** AGENTS.md and CLAUDE.md below the root, from the workspace. */
  readonly instructions?: string;
}

/** The workspace, and the folder of its repository. */
export interface GitPlace {
  readonly cwd: string;
  readonly root: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** *Contract:* never rejects. Only what is in git, or is about to be: nobody walks the folder. */
export async function gitSummary({ cwd, root }: GitPlace, env: Env): Promise<GitSummary> {
  const at = { cwd, env, patienceMs };
  const [status, listed] = await Promise.all([
    askGit(["status", "--porcelain", "-z", "--untracked-files=normal", "--", "."], at),
    askGit(["ls-files", "-z", "--", "**/AGENTS.md", "**/CLAUDE.md"], at),
  ]);
  const changes = changesText(status, { cwd, root });
  const instructions = listed
    .split("\0")
    .filter((path) => path.includes("/"))
    .slice(0, namedInstructions);
  return {
    ...(changes !== "" && { changes }),
    ...(instructions.length > 0 && { instructions: instructions.join(", ") }),
  };
}

/** The latest changed first. */
function changesText(status: string, { cwd, root }: GitPlace): string {
  const entries = status.split("\0").filter((entry) => /^[ MTADRCU?!]{2} ./.test(entry));
  const untracked = entries.filter((entry) => entry.startsWith("??")).length;
  const changed = entries.filter((entry) => !entry.startsWith("??")).map((entry) => entry.slice(3));
  const latest = changed
    .slice(0, timed)
    .map((path) => ({ path: relative(cwd, join(root, path)), at: changedAt(join(root, path)) }))
    .sort((a, b) => b.at - a.at)
    .slice(0, named)
    .map(({ path }) => path);
  const more = changed.length > latest.length ? ", ..." : "";
  return [
    ...(changed.length > 0 ? [`${changed.length} changed (${latest.join(", ")}${more})`] : []),
    ...(untracked > 0 ? [`${untracked} untracked`] : []),
  ].join(", ");
}

/** 0 for a file that is gone. */
function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
