/** The checkpoints port on a shadow git repository outside the project. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { type Checkpoint, type Checkpoints, type Failure, type Fenced, isFailure } from "@lathe/protocol";
import type { Effects } from "../apply-steps.ts";
import { nodeDisk } from "../disk.ts";
import { errorCode, fileFailure } from "../file-failure.ts";
import { fileJournal } from "../file-journal.ts";
import { isOwnerAlive } from "../process-owner.ts";
import type { Recovery } from "../recover-journals.ts";
import { collectGarbage, isScattered, noteGarbage, packSmall } from "./collect-garbage.ts";
import { type CheckpointLimits, defaultLimits } from "./limits.ts";
import { listDifferences, type UnifiedDiff } from "./list-differences.ts";
import { readCheckpointFile } from "./read-file.ts";
import { refuseRoot } from "./refuse-root.ts";
import { restoreFiles } from "./restore-files.ts";
import { missingGit } from "./run-git.ts";
import { Shadow } from "./shadow.ts";
import { writeWhole } from "./write-whole.ts";

export interface CheckpointsOptions {
  /** An existing folder. */
  readonly root: string;
  /** Where the stores of all folders are; of this user alone. */
  readonly folder: string;
  /** The same as the workspace's of this root. */
  readonly journal: string;
  readonly home: string;
  /** The variable PATH, where git is looked for. */
  readonly path: string;
  /** Absolute paths of Lathe's own, should they be inside the root. */
  readonly excluded?: readonly string[];
  /** Around what a restore changes: of the session's owner. */
  readonly fenced?: Fenced;
  /** Makes the text of a difference; without it there is none. */
  readonly unified?: UnifiedDiff;
  readonly limits?: Partial<CheckpointLimits>;
  /** Told when a process had died in the middle of a restore or commit. */
  readonly onRecovered?: (recovery: Recovery) => void;
}

/** A failure where there can be no checkpoints: a home folder, no git, a store that cannot be made. */
export async function openCheckpoints(options: CheckpointsOptions): Promise<Checkpoints | Failure> {
  try {
    const root = realpathSync.native(options.root);
    const refused = refuseRoot(root, realIfThere(options.home));
    if (refused) return refused;
    const folder = join(options.folder, createHash("sha256").update(root).digest("hex").slice(0, 24));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const git = { folder: realpathSync.native(folder), path: options.path };
    const missing = await missingGit(git);
    if (missing) return missing;
    writeWhole(join(folder, "root"), `${root}\n`);
    const limits = { ...defaultLimits, ...options.limits };
    const shadow = new Shadow({ root, git, excluded: (options.excluded ?? []).map(realIfThere), limits });
    const { fenced = (effect) => effect(), onRecovered } = options;
    const journal = fileJournal({
      folder: options.journal,
      root,
      disk: nodeDisk,
      isAlive: isOwnerAlive,
      onRecovered,
    });
    await journal.recover();
    return checkpointsOf(shadow, { disk: nodeDisk, fenced, journal }, options.unified);
  } catch (error) {
    const failed = fileFailure(options.folder, error);
    // Node says so of a folder that cannot be made on a read-only disk.
    return failed.code === "not-found" ? { ...failed, code: "no-access" } : failed;
  }
}

function checkpointsOf(shadow: Shadow, effects: Effects, unified: UnifiedDiff | undefined): Checkpoints {
  const inTurn = serialised(shadow.git.folder);
  let packing: Promise<unknown> | undefined;
  return {
    take: (session) =>
      inTurn(async () => {
        const taken = await takeWithRoom(shadow, session);
        if (isScattered(shadow)) {
          packing ??= packSmall(shadow)
            .catch(errorCode)
            .finally(() => {
              packing = undefined;
            });
        }
        return taken;
      }),
    difference: (from, to) =>
      inTurn(async () => {
        const after = to === undefined ? await shadow.present() : await shadow.treeOf(to);
        if (isFailure(after)) return after;
        const before = await shadow.treeOf(from);
        if (isFailure(before)) return before;
        return shadow.reading((reader) => listDifferences(reader, { before, after }, unified));
      }),
    read: (ref, path) =>
      inTurn(async () => {
        const tree = await shadow.treeOf(ref);
        return isFailure(tree) ? tree : shadow.reading((reader) => readCheckpointFile(reader, tree, path));
      }),
    restore: (ref, options) => inTurn(() => restoreFiles(shadow, effects, { ...options, ref })),
    keep: (session, refs) => inTurn(() => shadow.keep(session, refs)),
    drop: (session) =>
      inTurn(async () => {
        shadow.forget(session);
        noteGarbage(shadow);
        return undefined;
      }),
    collect: async () => {
      await packing;
      return inTurn(() => collectGarbage(shadow));
    },
  };
}

function realIfThere(path: string): string {
  return existsSync(path) ? realpathSync.native(path) : path;
}

/** Old sessions make room for new ones. */
async function takeWithRoom(shadow: Shadow, session: string): Promise<Checkpoint | Failure> {
  const taken = await shadow.take(session);
  if (!isFailure(taken) || shadow.store.size <= shadow.limits.quota) return taken;
  const collected = await collectGarbage(shadow);
  return isFailure(collected) || collected.after >= collected.before ? taken : shadow.take(session);
}

/** One after the other; what the file system throws becomes a failure. */
function serialised(folder: string): <T>(work: () => Promise<T>) => Promise<T | Failure> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const run = last.then(work).catch((error: unknown) => fileFailure(folder, error));
    // A bug is for its caller; it does not stop the calls after it.
    last = run.catch(() => undefined);
    return run;
  };
}
