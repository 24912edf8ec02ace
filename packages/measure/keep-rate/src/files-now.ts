/** Files now: reads the followed files and new ones from the folder, committed or not. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { isFailure } from "@lathe/protocol";
import { readBounded } from "@lathe/system";
import { askGit, type Repository } from "./read-blobs.ts";
import type { Text, Texts } from "./text.ts";
import type { FileTransition } from "./transition.ts";

const maxBytes = 1_000_000;
/** Maximum number of new or changed files that are searched for moved lines. */
const maxFiles = 2_000;

export interface FilesNow {
  readonly repository: Repository;
  readonly texts: Texts;
  /** Of all followed files, from the root. */
  readonly paths: readonly string[];
  /** Files that changed later than this may contain moved lines. */
  readonly since: number;
  /** The content of a file in the newest commit. */
  readonly committed: (path: string) => Promise<Text | undefined>;
}

/** Returns the followed files, with missing ones matched to new files that contain most of their lines, and other new files. */
export async function readFilesNow(now: FilesNow): Promise<readonly FileTransition[]> {
  const { repository, paths } = now;
  const read = (path: string): Text | undefined => textAt(repository.root, path, now.texts);
  const followed: FileTransition[] = [];
  for (const path of paths) followed.push({ path, before: await now.committed(path), after: read(path) });
  const missing = followed.filter(({ after }) => after === undefined);
  const [fresh, tracked] = await Promise.all([
    listed(repository, ["ls-files", "-z", "--others", "--exclude-standard"]),
    listed(repository, ["ls-files", "-z"]),
  ]);
  const known = new Set(paths);
  const created = fresh.slice(0, maxFiles).map((path) => ({ path, before: undefined, after: read(path) }));
  const changed = tracked.filter(
    (path) => !known.has(path) && isNewer(join(repository.root, path), now.since),
  );
  const others: FileTransition[] = [];
  for (const path of changed.slice(0, maxFiles)) {
    const [before, after] = [await now.committed(path), read(path)];
    if (after && before !== after) others.push({ path, before, after });
  }
  const renamed = await renamedFiles(missing, created, now);
  const taken = new Set(renamed.flatMap(({ path, from }) => [path, from]));
  const beside = [...created, ...others].filter(({ path }) => !known.has(path) && !taken.has(path));
  return [...renamed, ...followed.filter(({ path }) => !taken.has(path)), ...beside];
}

/** A new file with at least half of the lines of a missing file counts as that file, renamed. */
async function renamedFiles(
  missing: readonly FileTransition[],
  created: readonly FileTransition[],
  { committed }: FilesNow,
): Promise<readonly FileTransition[]> {
  const renamed: FileTransition[] = [];
  const taken = new Set<string>();
  for (const { path: from } of missing) {
    const old = await committed(from);
    if (!old) continue;
    const [best] = created
      .filter(({ path }) => !taken.has(path))
      .map((file) => ({ file, share: similarity(old, file.after) }))
      .sort((a, b) => b.share - a.share);
    if (!best || best.share < 0.5) continue;
    taken.add(best.file.path);
    renamed.push({ ...best.file, from });
  }
  return renamed;
}

function similarity(old: Text, now: Text | undefined): number {
  if (!now) return 0;
  const left = new Map<string, number>();
  for (const line of now.plain) left.set(line, (left.get(line) ?? 0) + 1);
  const same = old.plain.filter((line) => {
    const times = left.get(line) ?? 0;
    left.set(line, times - 1);
    return times > 0;
  });
  return same.length / Math.max(1, old.plain.length, now.plain.length);
}

async function listed(repository: Repository, args: readonly string[]): Promise<readonly string[]> {
  const names = await askGit(repository, args, "repository");
  return isFailure(names) ? [] : names.split("\0").filter((name) => name !== "");
}

function isNewer(path: string, since: number): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.mtimeMs >= since;
}

/** Undefined for anything but a text file of bounded size. Links that lead out of the folder are not followed. */
function textAt(root: string, path: string, texts: Texts): Text | undefined {
  try {
    const file = readBounded(join(root, path), { maxBytes });
    return file?.isCut === false ? texts(file.bytes.toString()) : undefined;
  } catch {
    return undefined;
  }
}
