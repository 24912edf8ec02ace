/** Segment cache: segments and what is known of trees, as files of the user's cache folder. */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { decodeSegment, type Segment } from "./segment.ts";

export interface SegmentCache {
  /** *Contract:* whole segments, largest first; torn ones are removed. */
  segments(): readonly Segment[];
  /** *Contract:* all or nothing, also when the process dies; false when the disk would not take it. */
  keep(segment: Segment): boolean;
  /** *Contract:* removes all segments that were there before but the given ones. */
  keepOnly(segments: readonly Segment[]): void;
  read(name: string): Uint8Array | undefined;
  write(name: string, bytes: Uint8Array): boolean;
}

const ending = ".segment";

/** Bytes of all that is kept. */
export const defaultQuota = 2_000_000_000;

const nothing: SegmentCache = {
  segments: () => [],
  keep: () => false,
  keepOnly: () => {},
  read: () => undefined,
  write: () => false,
};

/** `folder` is that of one repository; made when something is kept. Without one nothing is. */
export function openSegmentCache(folder: string | undefined): SegmentCache {
  if (folder === undefined) return nothing;
  const names = new Map<Segment, string>();
  const load = (name: string): readonly Segment[] => {
    const bytes = readQuietly(join(folder, name));
    const segment = bytes && decodeSegment(bytes);
    if (!segment) removeQuietly(join(folder, name));
    else names.set(segment, name);
    return segment ? [segment] : [];
  };
  const segmentNames = (): readonly string[] => namesIn(folder).filter((name) => name.endsWith(ending));
  return {
    segments: () =>
      segmentNames()
        .flatMap(load)
        .toSorted((a, b) => b.files - a.files),
    keep(segment) {
      const name = `${randomUUID()}${ending}`;
      if (!writeWhole(folder, name, segment.bytes)) return false;
      names.set(segment, name);
      return true;
    },
    keepOnly(segments) {
      const kept = new Set(segments.map((segment) => names.get(segment)));
      for (const name of names.values()) if (!kept.has(name)) removeQuietly(join(folder, name));
    },
    read: (name) => readQuietly(join(folder, name)),
    write: (name, bytes) => writeWhole(folder, name, bytes),
  };
}

/** Under a name of its own first: whoever reads finds all of it or nothing. */
function writeWhole(folder: string, name: string, bytes: Uint8Array): boolean {
  const temporary = join(folder, `${randomUUID()}.part`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = openSync(temporary, "wx", 0o600);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, join(folder, name));
    return true;
  } catch {
    // A cache that cannot be written is only slower the next time.
    removeQuietly(temporary);
    return false;
  }
}

function readQuietly(path: string): Uint8Array | undefined {
  try {
    const bytes = readFileSync(path);
    // Small files come out of a pool, at any offset.
    return bytes.byteOffset % 4 === 0 ? bytes : Uint8Array.from(bytes);
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Left to the next one that cleans up.
  }
}

/** Parts that a process left behind when it died are older than this. */
const oldPart = 3_600_000;

/** Marks a repository's folder as used, and removes those used longest ago until all take less than `most` bytes. */
export function pruneSegments(
  all: string,
  used: string,
  { most, now }: { readonly most: number; readonly now: number },
): void {
  try {
    utimesSync(join(all, used), now / 1000, now / 1000);
  } catch {
    // Nothing was kept for it.
  }
  const folders = namesIn(all).map((name) => measured(join(all, name), now));
  let total = folders.reduce((sum, { size }) => sum + size, 0);
  for (const { path, size } of folders.toSorted((a, b) => a.at - b.at)) {
    if (total <= most) return;
    removeQuietly(path);
    total -= size;
  }
}

function measured(
  path: string,
  now: number,
): { readonly path: string; readonly size: number; readonly at: number } {
  let size = 0;
  for (const name of namesIn(path)) {
    const stats = statSync(join(path, name), { throwIfNoEntry: false });
    if (name.endsWith(".part") && now - (stats?.mtimeMs ?? now) > oldPart) removeQuietly(join(path, name));
    else size += stats?.size ?? 0;
  }
  return { path, size, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
}
