/** Eval folder: where a run works and who has its records; what a run left that was killed is taken away. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Failure, failure } from "@lathe/protocol";
import { makeOwnedFolder, orphanedFolders } from "@lathe/system/owned-folder";
import { isRunning, ownMark } from "@lathe/system/process-mark";
import { removeTree } from "@lathe/system/remove-tree";

export interface EvalFolder {
  readonly path: string;
  /** *Contract:* removes it and lets go of the records; idempotent. */
  close(): Promise<void>;
}

export function openEvalFolder(out: string): EvalFolder | Failure {
  try {
    mkdirSync(out, { recursive: true });
  } catch (cause) {
    const text = `the folder ${out} cannot be made (${(cause as NodeJS.ErrnoException).code}); choose another with --out`;
    return failure("no-access", text, { who: "user", cause });
  }
  const lock = join(out, "lock");
  const owner = take(lock);
  if (owner !== undefined) {
    const text = `${out} is being written by the process ${owner}; wait for it, or choose another folder with --out`;
    return failure("already-exists", text, { who: "user" });
  }
  const left = removeLeft();
  const path = makeOwnedFolder("eval");
  return {
    path,
    close: async () => {
      await left;
      await removeFolder(path);
      rmSync(lock, { force: true });
    },
  };
}

/** The process that has it; undefined when it is ours now. */
function take(lock: string): number | undefined {
  const own = ownMark();
  for (let i = 0; i < 2; i++) {
    try {
      writeFileSync(lock, `${own.pid} ${own.startedAt}\n`, { flag: "wx" });
      return undefined;
    } catch {
      const [pid = 0, startedAt = 0] = readText(lock).split(" ").map(Number);
      if (pid !== own.pid && isRunning({ pid, startedAt })) return pid;
      rmSync(lock, { force: true });
    }
  }
  return undefined;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

async function removeLeft(): Promise<void> {
  for (const path of orphanedFolders("eval")) await removeFolder(path);
}

/** Best effort; also what may not be read: the kernel's own folder of a view, and what commands made so. */
export async function removeFolder(path: string): Promise<void> {
  try {
    // Not at a stretch: some disks take minutes to let go of a project's packages.
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    try {
      removeTree(Buffer.from(path));
    } catch {
      // Gone meanwhile, or another user's.
    }
  }
}
