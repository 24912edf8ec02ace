/** Git summary: what of the workspace is changed, and where it has further instructions, as its repository says at once. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Repository, RepositoryChanges } from "@lathe/protocol";

/** The start of a session does not wait longer than this; what is not known by then is left out. */
const maxMs = 150;
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

/** *Contract:* never rejects. Instructions only of files that are in git, or are about to be. */
export async function gitSummary(cwd: string, repository: Repository): Promise<GitSummary> {
  const status = await repository.changes({ of: "workspace", maxMs });
  const tracked = await repository.trackedFiles({ maxMs });
  const changes = typeof status === "string" ? "" : changesText(cwd, status);
  const paths = typeof tracked === "string" ? [] : tracked;
  const instructions = paths
    .filter((path) => /\/(?:AGENTS|CLAUDE)\.md$/.test(path))
    .slice(0, namedInstructions);
  return {
    ...(changes !== "" && { changes }),
    ...(instructions.length > 0 && { instructions: instructions.join(", ") }),
  };
}

/** The latest changed first. */
function changesText(cwd: string, { changed, untracked }: RepositoryChanges): string {
  const latest = changed
    .slice(0, timed)
    .map((path) => ({ path, at: changedAt(join(cwd, path)) }))
    .sort((a, b) => b.at - a.at)
    .slice(0, named)
    .map(({ path }) => path);
  const more = changed.length > latest.length ? ", ..." : "";
  return [
    ...(changed.length > 0 ? [`${changed.length} changed (${latest.join(", ")}${more})`] : []),
    ...(untracked.length > 0 ? [`${untracked.length} untracked`] : []),
  ].join(", ");
}

/** 0 for a file that is gone. */
function changedAt(path: string): number {
  try {
    return lstatSync(path).mtimeMs;
  } catch {
    return 0;
  }
}
