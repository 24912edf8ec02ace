/** Pairs of file versions from a git repository's history. */
import { spawnSync } from "node:child_process";
import type { FilePair } from "./edit-case.ts";

const maxBytes = 256 * 1024 * 1024;

/** Later commits must not change the cases. */
const until = "2026-11-20T15:00:00Z";

/** Undefined if the folder is no repository, or git is missing. */
export function gitPairs(folder: string, source: string): FilePair[] | undefined {
  const git = (args: readonly string[], input?: string): Buffer | undefined => {
    const { status, stdout } = spawnSync("git", ["-C", folder, ...args], { maxBuffer: maxBytes, input });
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
  const changed = [...log.toString("utf8").matchAll(/^:\d+ \d+ (\w+) (\w+) M\t(.+)$/gm)];
  const pairs = changed.map(([, before = "", after = "", path = ""]) => ({ before, after, path }));
  const ids = [...new Set(pairs.flatMap(({ before, after }) => [before, after]))];
  const blobs = blobsIn(git(["cat-file", "--batch"], `${ids.join("\n")}\n`) ?? Buffer.alloc(0));
  const text = (id: string): string => blobs.get(id) ?? "";
  return pairs
    .map(({ before, after, path }) => ({ path, before: text(before), after: text(after), source }))
    .filter((pair) => !pair.before.includes("\0") && !pair.before.includes("\uFFFD"));
}

/** Parses `cat-file --batch`: a line with id, kind and size, then the bytes, then a line end. */
function blobsIn(batch: Buffer): ReadonlyMap<string, string> {
  const blobs = new Map<string, string>();
  for (let at = 0; at < batch.length; ) {
    const begin = batch.indexOf("\n", at) + 1;
    const [id = "", , size] = batch.toString("latin1", at, begin - 1).split(" ");
    // A missing blob has no bytes.
    const length = size === undefined ? -1 : Number(size);
    if (length >= 0) blobs.set(id, batch.toString("utf8", begin, begin + length));
    at = begin + length + 1;
  }
  return blobs;
}
