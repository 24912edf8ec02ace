/** The files of an attempt tree's commit: what they are, and how git puts them into a working tree. */
import { mkdirSync, rmSync } from "node:fs";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { makeOwnedFolder, orphanedFolders } from "@lathe/system/owned-folder";
import type { ComparedWith } from "../worktrees/changed-files.ts";
import { gitIn } from "../worktrees/git-in.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** The mode of each, by its name of one character per byte. */
export async function committedModes(
  env: Env,
  { gitFolder, commit }: ComparedWith,
): Promise<ReadonlyMap<string, string> | Failure> {
  const words = [`--git-dir=${gitFolder}`, "ls-tree", "-r", "-z", "--full-tree", commit];
  const listed = await gitIn(gitFolder, words, env);
  if (isFailure(listed)) return listed;
  const entries = listed.split("\0").flatMap((line) => {
    const [, mode, name] = /^(\d+) \S+ \w+\t([\s\S]*)$/.exec(line) ?? [];
    return mode && name !== undefined ? [[name, mode] as const] : [];
  });
  return new Map(entries);
}

export interface Wanted {
  readonly compared: ComparedWith;
  readonly names: readonly string[];
  /** Where a folder can be made for the time being. */
  readonly folder: string;
}

/**
 * *Contract:* puts the files of these names into a folder of their own, which is gone once `look` has resolved. What
 * says how their lines end is that of the commit: the working tree's own attributes may have been changed since.
 */
export async function withCommitted<T>(
  env: Env,
  { compared, names, folder }: Wanted,
  look: (root: string) => T,
): Promise<T | Failure> {
  const kind = "before";
  let root: string | undefined;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const left of orphanedFolders(kind, folder)) rmSync(left, { recursive: true, force: true });
    root = makeOwnedFolder(kind, folder);
    if (names.length === 0) return look(root);
    const { gitFolder, index } = compared;
    const words = [`--git-dir=${gitFolder}`, `--work-tree=${root}`, "checkout-index", "-q", "-z", "--stdin"];
    const input = names.map((name) => `${name}\0`).join("");
    const put = await gitIn({ cwd: root, index, input }, words, env);
    return isFailure(put) ? put : look(root);
  } catch (cause) {
    return failure("no-access", `${folder} could not be used: ${String(cause)}`, { who: "host", cause });
  } finally {
    if (root !== undefined) rmSync(root, { recursive: true, force: true });
  }
}
