/** Prune: removes old blobs, then the oldest others until the rest fits. */
import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface PruneOptions {
  /** The folder of these blobs. */
  readonly folder: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly maxAgeMs?: number;
  readonly maxBytes?: number;
}

const dayMs = 86_400_000;
/** The mark's age is the time since the last pruning; no blob has this name. */
const markName = "pruned";

/**
 * *Contract:* runs at most once a day; never throws: blobs that cannot be removed stay until the next day.
 */
export function pruneBlobs({ folder, now, maxAgeMs = 30 * dayMs, maxBytes = 1e9 }: PruneOptions): void {
  try {
    if (!isDue(join(folder, markName), now)) return;
    let bytes = 0;
    for (const blob of newestFirst(folder)) {
      bytes += blob.bytes;
      if (now - blob.writtenAt > maxAgeMs || bytes > maxBytes) rmSync(blob.path, { force: true });
    }
  } catch {
    // There are no blobs, or they cannot be read.
  }
}

/** Sets the mark at once, so that no other process prunes too. */
function isDue(mark: string, now: number): boolean {
  const last = statSync(mark, { throwIfNoEntry: false })?.mtimeMs;
  if (last !== undefined && now - last < dayMs) return false;
  writeFileSync(mark, "", { mode: 0o600 });
  const at = new Date(now);
  utimesSync(mark, at, at);
  return true;
}

interface Blob {
  readonly path: string;
  readonly bytes: number;
  readonly writtenAt: number;
}

/** Includes half-written files of dead processes. */
function newestFirst(folder: string): readonly Blob[] {
  const groups = readdirSync(folder).filter((name) => name !== markName);
  const blobs = groups.flatMap((group) =>
    readdirSync(join(folder, group)).flatMap((name): readonly Blob[] => {
      const path = join(folder, group, name);
      const stats = statSync(path, { throwIfNoEntry: false });
      return stats ? [{ path, bytes: stats.size, writtenAt: stats.mtimeMs }] : [];
    }),
  );
  return blobs.sort((a, b) => b.writtenAt - a.writtenAt);
}
