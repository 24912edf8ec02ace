/** Indexes files from the disk: reads them, and makes segments of them. */
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import type { CodeLanguage } from "../definitions/languages.ts";
import type { HeldSegment } from "../segments/segment.ts";
import type { SegmentBuilder } from "../segments/segment-builder.ts";

export interface FileOnDisk {
  readonly path: string;
  readonly language: CodeLanguage;
}

/** Bytes of the largest file whose words are indexed; of larger ones only the name is. */
export const maxFileBytes = 1_000_000;

export function blobId(bytes: Uint8Array): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

export interface ReadFile {
  readonly path: string;
  readonly id: string;
}

export interface Indexed {
  readonly segment: HeldSegment;
  /** Each file that was read, in the order of the segment. */
  readonly files: readonly ReadFile[];
}

/** *Contract:* files that cannot be read are left out. */
export function indexFiles(
  root: string,
  files: readonly FileOnDisk[],
  { builder, onFile = () => {} }: { readonly builder: SegmentBuilder; readonly onFile?: () => void },
): Indexed {
  const read: ReadFile[] = [];
  // One for all files: thousands of them would be given back to the system late.
  const room = new Uint8Array(maxFileBytes);
  for (const { path, language } of files) {
    const found = readFile(join(root, path), room);
    if (!found) continue;
    const { id, bytes } = found;
    builder.add({ id, language: bytes ? language : "none", bytes: bytes ?? room.subarray(0, 0) });
    read.push({ path, id });
    onFile();
  }
  return { segment: builder.finish(), files: read };
}

/** The id of these very bytes: the file may have changed since it was looked up. No bytes of a file that is too large. */
function readFile(
  path: string,
  room: Uint8Array,
): { readonly id: string; readonly bytes?: Uint8Array } | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const { size } = fstatSync(file);
    const hash = createHash("sha1").update(`blob ${size}\0`);
    for (let at = 0; at < size; ) {
      const from = size > room.length ? 0 : at;
      const read = readSync(file, room, from, Math.min(room.length - from, size - at), at);
      if (read === 0) return undefined;
      hash.update(room.subarray(from, from + read));
      at += read;
    }
    return { id: hash.digest("hex"), ...(size <= room.length && { bytes: room.subarray(0, size) }) };
  } catch {
    // It went away, or may not be read: then nothing is known of it.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

export function readQuietly(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path);
  } catch {
    // It went away, or may not be read: then nothing is known of it.
    return undefined;
  }
}
