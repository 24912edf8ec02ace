/** Pairs of file versions from a git repository's history. */
import { spawnSync } from "node:child_process";
import type { FilePair } from "./edit-case.ts";

const mostBytes = 256 * 1024 * 1024;

/** What is committed later does not make other cases. */
const until = "2026-11-20T15:00:00Z";

/** Undefined where the folder is no repository, or git is not there. */
export function gitPairs(folder: string, source: string): FilePair[] | undefined {
  const git = (args: readonly string[], input?: string): string | undefined => {
    const { status, stdout } = spawnSync("git", ["-C", folder, ...args], {
      encoding: "utf8",
      maxBuffer: mostBytes,
      input,
    });
    return status === 0 ? stdout : undefined;
  };
  const log = git([
    "log",
    "--no-merges",
    `--before=${until}`,
    "--format=",
    "--raw",
    "--no-abbrev",
    "--no-renames",
    "--diff-filter=M",
  ]);
  if (log === undefined) return undefined;
  const changed = [...log.matchAll(/^:\d+ \d+ (\w+) (\w+) M\t(.+)$/gm)];
  const pairs = changed.map(([, before, after, path]) => ({ before, after, path: path as string }));
  const blobs = new Map<string, string>();
  for (const { before, after } of pairs) {
    for (const id of [before, after] as string[]) {
      if (!blobs.has(id)) blobs.set(id, git(["cat-file", "blob", id]) ?? "");
    }
  }
  const text = (id: string | undefined): string => blobs.get(id ?? "") ?? "";
  return pairs
    .map(({ before, after, path }) => ({ path, before: text(before), after: text(after), source }))
    .filter((pair) => !pair.before.includes("\0") && !pair.before.includes("\uFFFD"));
}
