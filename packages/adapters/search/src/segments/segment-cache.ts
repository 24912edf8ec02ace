/** Segment cache: segments and what is known of trees, as files of the user's cache folder. */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { namesIn } from "@lathe/system/paths";
import type { HeldSegment, Segment } from "./segment.ts";
import { SegmentReader } from "./segment-reader.ts";

export interface SegmentCache {
  /** *Contract:* whole segments, largest first; torn ones are removed, those that cannot be read now are left as they are. */
  segments(): readonly Segment[];
  /** *Contract:* one that another thread has kept under this name; undefined when it is not whole, or cannot be read. */
  open(name: string): Segment | undefined;
  /** *Contract:* all or nothing, also when the process dies; false when the disk would not take it. */
  keep(segment: HeldSegment): boolean;
  remove(segments: readonly Segment[]): void;
  /** *Contract:* true when segments could not be read any more, until all are opened again: what they gave is not all. */
  hasLost(): boolean;
  /** *Contract:* closes the files that queries have opened. */
  rest(): void;
  read(name: string): Uint8Array | undefined;
  /** The names of what was written that end so. */
  names(ending: string): readonly string[];
  write(name: string, bytes: Uint8Array): boolean;
}

const ending = ".segment";

/** Bytes of all that is kept. */
export const defaultQuota = 2_000_000_000;

const nothing: SegmentCache = {
  segments: () => [],
  open: () => undefined,
  keep: () => false,
  remove: () => {},
  hasLost: () => false,
  rest: () => {},
  read: () => undefined,
  names: () => [],
  write: () => false,
};

/** `folder` is that of one repository; made when something is kept. Without one nothing is. */
export function openSegmentCache(folder: string | undefined): SegmentCache {
  if (folder === undefined) return nothing;
  const names = new Map<Segment, string>();
  const reader = new SegmentReader();
  const open = (name: string): Segment | undefined => {
    const segment = reader.read(join(folder, name));
    if (segment === "torn") {
      removeQuietly(join(folder, name));
      return undefined;
    }
    if (segment) names.set(segment, name);
    return segment;
  };
  const namesEnding = (end: string): readonly string[] =>
    namesIn(folder).filter((name) => name.endsWith(end));
  return {
    segments() {
      reader.lost.clear();
      // In the same order for everyone: who leaves out copies leaves the same ones.
      const found = namesEnding(ending)
        .toSorted()
        .flatMap((name) => open(name) ?? []);
      return found.toSorted((a, b) => b.files - a.files);
    },
    open,
    keep(segment) {
      const name = keepSegment(folder, segment.bytes);
      if (name !== undefined) names.set(segment, name);
      return name !== undefined;
    },
    remove(segments) {
      for (const segment of segments) {
        const name = names.get(segment);
        if (name !== undefined) removeQuietly(join(folder, name));
        names.delete(segment);
      }
    },
    hasLost: () => reader.lost.size > 0,
    rest: () => reader.rest(),
    read: (name) => readQuietly(join(folder, name)),
    names: namesEnding,
    write: (name, bytes) => writeWhole(folder, name, bytes),
  };
}

/** Whether anything of an index is there for the next process. */
export function keepsSegments(folder: string): boolean {
  return namesIn(folder).some((name) => name.endsWith(ending));
}

/** Its name, or undefined when the disk would not take it. */
export function keepSegment(folder: string, bytes: Uint8Array): string | undefined {
  const name = `${randomUUID()}${ending}`;
  return writeWhole(folder, name, bytes) ? name : undefined;
}

/** Written under a temporary name first, so that a reader finds all of it or nothing. */
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

function removeQuietly(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Left to the next one that cleans up.
  }
}

/** Parts that a process left behind when it died are older than this. */
const oldPart = 3_600_000;

/** Another process may still be reading a recently used folder. */
const maybeInUse = 3 * 3_600_000;

/** Says that a folder is used: then none of this user's processes removes it for some hours. */
export function markUsed(folder: string, now: number): void {
  try {
    utimesSync(folder, now / 1000, now / 1000);
  } catch {
    // Nothing was kept for it.
  }
}

/**
 * Marks a repository's folder as used, and removes others, used longest ago, until all take less than `most` bytes.
 * Those that are in use stay, however large they are.
 */
export function pruneSegments(
  all: string,
  used: string,
  { most, now }: { readonly most: number; readonly now: number },
): void {
  markUsed(join(all, used), now);
  const folders = namesIn(all).map((name) => measured(join(all, name), now));
  let total = folders.reduce((sum, { size }) => sum + size, 0);
  for (const { path, size, at } of folders.toSorted((a, b) => a.at - b.at)) {
    if (total <= most || now - at < maybeInUse) return;
    if (path === join(all, used)) continue;
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
