/** Carries out a planned commit: everything is prepared beside its place, put in place, or put back. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Failure, type Fenced, isFailure } from "@lathe/protocol";
import type { Disk } from "./disk.ts";
import { errorCode, fileFailure } from "./file-failure.ts";
import { changedSince, type Step } from "./plan-commit.ts";

/** What is to be undone if the commit fails, and tidied away in any case. */
interface Trail {
  readonly disk: Disk;
  readonly undo: (() => void)[];
  readonly temporary: Set<string>;
  /** Folders that were made, the outer ones first. */
  readonly folders: string[];
}

/** Everything is prepared first; what others can see happens at once, inside `fenced`. */
export async function applyCommit(
  steps: readonly Step[],
  disk: Disk,
  fenced: Fenced,
): Promise<Failure | undefined> {
  const trail: Trail = { disk, undo: [], temporary: new Set(), folders: [] };
  const prepared = prepare(steps, trail);
  const failed = isFailure(prepared)
    ? prepared
    : await fenced(async () => changedSince(steps) ?? putInPlace(prepared, trail));
  const broken = failed && rollBack(trail);
  for (const path of trail.temporary) quietly(() => disk.unlink(path));
  if (!failed) return undefined;
  for (const path of trail.folders.toReversed()) quietly(() => disk.rmdir(path));
  if (!broken) return failed;
  return { ...failed, text: `${failed.text} Putting things back failed too: ${broken}` };
}

interface Prepared extends Step {
  /** The new bytes, in a file of their own in the same folder. */
  readonly fresh?: string;
}

function prepare(steps: readonly Step[], trail: Trail): readonly Prepared[] | Failure {
  const prepared: Prepared[] = [];
  for (const step of steps) {
    try {
      if (!step.after) {
        prepared.push(step);
        continue;
      }
      makeParents(dirname(step.absolute), trail);
      const fresh = temporaryIn(dirname(step.absolute), trail);
      trail.disk.write(fresh, step.after.bytes, step.stats);
      prepared.push({ ...step, fresh });
    } catch (error) {
      return fileFailure(step.path, error);
    }
  }
  return prepared;
}

function makeParents(folder: string, trail: Trail): void {
  if (existsSync(folder)) return;
  makeParents(dirname(folder), trail);
  try {
    trail.disk.mkdir(folder);
  } catch (error) {
    if (errorCode(error) === "EEXIST") return;
    throw error;
  }
  trail.folders.push(folder);
}

function putInPlace(steps: readonly Prepared[], trail: Trail): Failure | undefined {
  // The only effect of a commit needs no way back, and rename is atomic by itself.
  const alone = steps.length === 1;
  for (const step of steps) {
    try {
      if (step.stats && !alone) keep(step, trail);
      if (step.fresh === undefined) trail.disk.unlink(step.absolute);
      else if (step.stats) replace(step.fresh, step.absolute, trail);
      else create(step.fresh, step.absolute, trail);
    } catch (error) {
      return fileFailure(step.path, error);
    }
  }
  return syncFolders(steps, trail.disk);
}

function replace(fresh: string, path: string, { disk, temporary }: Trail): void {
  disk.rename(fresh, path);
  temporary.delete(fresh);
}

/** Gives the current file a second name from which it can be put back without needing space. */
function keep({ absolute }: Prepared, trail: Trail): void {
  const { disk, undo, temporary } = trail;
  const kept = temporaryIn(dirname(absolute), trail);
  withoutLinks(
    () => disk.link(absolute, kept),
    () => disk.copy(absolute, kept),
  );
  undo.push(() => {
    // Until it is back it may be the only copy. Renaming over the same file leaves both names, so it is tidied after.
    temporary.delete(kept);
    disk.rename(kept, absolute);
    temporary.add(kept);
  });
}

/** A link fails when the name is taken, also by another spelling of it; a rename would replace that file. */
function create(fresh: string, path: string, { disk, undo }: Trail): void {
  withoutLinks(
    () => disk.link(fresh, path),
    () => disk.rename(fresh, path),
  );
  undo.push(() => disk.unlink(path));
}

function withoutLinks(link: () => void, otherwise: () => void): void {
  try {
    link();
  } catch (error) {
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(errorCode(error))) throw error;
    otherwise();
  }
}

function syncFolders(steps: readonly Prepared[], disk: Disk): Failure | undefined {
  for (const folder of new Set(steps.map((step) => dirname(step.absolute)))) {
    try {
      disk.syncFolder(folder);
    } catch (error) {
      // Some network file systems cannot; the files themselves are durable.
      const code = errorCode(error);
      if (!["EINVAL", "ENOTSUP", "EOPNOTSUPP", "EPERM", "EACCES", "EBADF"].includes(code)) {
        return fileFailure(folder, error);
      }
    }
  }
  return undefined;
}

function rollBack({ undo }: Trail): string | undefined {
  const broken: string[] = [];
  for (const step of undo.toReversed()) {
    try {
      step();
    } catch (error) {
      broken.push(error instanceof Error ? error.message : String(error));
    }
  }
  return broken.length > 0 ? broken.join("; ") : undefined;
}

function temporaryIn(folder: string, { temporary }: Trail): string {
  const path = join(folder, `.lathe-${randomBytes(6).toString("hex")}.tmp`);
  temporary.add(path);
  return path;
}

function quietly(action: () => void): void {
  try {
    action();
  } catch {
    // Never made, renamed away, or filled by somebody else meanwhile: nothing of ours is lost.
  }
}
