/** Indexes files from the disk: reads them, and makes segments of them. */
import { createHash } from "node:crypto";
import { closeSync, fstatSync, readFileSync, readSync } from "node:fs";
import { InsideOpener, openInside } from "@lathe/system/open-inside";
import type { CodeLanguage } from "../definitions/languages.ts";
import type { HeldSegment } from "../segments/segment.ts";
import type { SegmentBuilder } from "../segments/segment-builder.ts";

export interface FileOnDisk {
  readonly path: string;
  readonly language: CodeLanguage;
  /** Absent if unknown; a file that is indexed only by name then need not be read. */
  readonly id?: string;
}

/** The id of a file that is indexed only by name: that of an empty file. */
export const namedOnly = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

/**
 * Maximum bytes of files whose words are indexed; larger ones are indexed only by name. Only compilers'
 * sources have longer hand-written files.
 */
const most = { code: 4_000_000, other: 1_000_000 };
const otherLanguages: ReadonlySet<CodeLanguage> = new Set(["none", "markdown", "text", "data"]);

/** *Contract:* `language` is that of its name; `none` for a file whose words are not indexed. */
export function indexedLanguage(language: CodeLanguage, size: number): CodeLanguage {
  return size > (otherLanguages.has(language) ? most.other : most.code) ? "none" : language;
}

export function blobId(bytes: Uint8Array): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

export interface ReadFile {
  readonly path: string;
  readonly id: string;
}

export interface IndexedFiles {
  readonly segment: HeldSegment;
  /** Each file that was read, in the segment's order. */
  readonly files: readonly ReadFile[];
}

/** *Contract:* omits files that cannot be read. */
export function indexFiles(
  root: string,
  files: readonly FileOnDisk[],
  { builder, onFile = () => {} }: { readonly builder: SegmentBuilder; readonly onFile?: () => void },
): IndexedFiles {
  const read: ReadFile[] = [];
  // One buffer for all files: the system would reclaim thousands of them late.
  const room = new Uint8Array(most.code);
  const opener = new InsideOpener(root);
  for (const { path, language, id } of files) {
    const isNamed = language === "none" && id !== undefined;
    const found = isNamed ? { id, size: 0, bytes: room.subarray(0, 0) } : readFile(opener, path, room);
    if (!found) continue;
    builder.add({ id: found.id, language: indexedLanguage(language, found.size), bytes: found.bytes });
    read.push({ path, id: found.id });
    onFile();
  }
  opener.close();
  return { segment: builder.finish(), files: read };
}

/**
 * The id of exactly these bytes: the file may have changed since the lookup. No bytes for a file that exceeds
 * the buffer.
 */
function readFile(
  opener: InsideOpener,
  path: string,
  room: Uint8Array,
): { readonly id: string; readonly size: number; readonly bytes: Uint8Array } | undefined {
  let file: number | undefined;
  try {
    file = opener.open(path);
    const { size } = fstatSync(file);
    const hash = createHash("sha1").update(`blob ${size}\0`);
    for (let at = 0; at < size; ) {
      const from = size > room.length ? 0 : at;
      const read = readSync(file, room, from, Math.min(room.length - from, size - at), at);
      if (read === 0) return undefined;
      hash.update(room.subarray(from, from + read));
      at += read;
    }
    return { id: hash.digest("hex"), size, bytes: room.subarray(0, size > room.length ? 0 : size) };
  } catch {
    // It is gone or unreadable: nothing is known about it.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

export function readQuietly(root: string, path: string): Uint8Array | undefined {
  let file: number | undefined;
  try {
    file = openInside(root, path);
    return readFileSync(file);
  } catch {
    // It is gone or unreadable: nothing is known about it.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
