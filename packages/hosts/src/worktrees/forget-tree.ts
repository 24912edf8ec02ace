/** Forgets one git working tree that git itself does not remove: its folder and its entry, and no other entry. */
import { existsSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { readSmallText } from "@lathe/system/read-bounded";
import { gitIn } from "./git-in.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Where it lies, and in which repository. */
export interface PlacedTree {
  readonly top: string;
  readonly path: string;
}

/**
 * *Contract:* with all that is in it, also where it is locked, half made, or another thing by now. Never `git worktree
 * prune`: it takes the entries of whatever is not there at the moment, as of a disk that is not mounted.
 */
export async function forgetTree(env: Env, { top, path }: PlacedTree): Promise<Failure | undefined> {
  const hasRepository = isRepositoryLeft(top);
  if (hasRepository && existsSync(path)) {
    // Twice: git leaves one locked that was cut off while it was made.
    const removed = await gitIn(top, ["worktree", "remove", "--force", "--force", path], env);
    if (!isFailure(removed)) return undefined;
  }
  const common = hasRepository ? await gitIn(top, ["rev-parse", "--git-common-dir"], env) : undefined;
  if (isFailure(common)) return common;
  try {
    // Git takes a tree whose pointer to the repository was changed for none of its own.
    rmSync(path, { recursive: true, force: true });
    const folder = common && resolve(top, Buffer.from(common.trimEnd(), "latin1").toString());
    for (const entry of folder ? entriesOf(join(folder, "worktrees"), path) : []) {
      rmSync(entry, { recursive: true, force: true });
    }
    return undefined;
  } catch (cause) {
    return failure("no-access", `${path} could not be removed: ${String(cause)}`, { who: "host", cause });
  }
}

/** A repository around it is another one. */
export function isRepositoryLeft(top: string): boolean {
  return existsSync(join(top, ".git"));
}

function entriesOf(folder: string, path: string): readonly string[] {
  const names = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
  const around = existsSync(dirname(path)) ? realpathSync(dirname(path)) : dirname(path);
  const pointers = [path, join(around, basename(path))].map((one) => join(one, ".git"));
  return names.flatMap((one) => {
    const entry = join(folder, one.name);
    return one.isDirectory() && pointers.includes(pointerOf(entry)) ? [entry] : [];
  });
}

const mostPointer = 64 * 1024;

/** Newer git may write it relative to the entry. */
function pointerOf(entry: string): string {
  const pointer = readSmallText(join(entry, "gitdir"), mostPointer);
  return pointer === undefined ? "" : resolve(entry, pointer.trimEnd());
}
