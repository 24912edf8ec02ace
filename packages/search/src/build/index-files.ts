/** Indexes files from the disk: reads them, and makes segments of them. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CodeLanguage } from "../definitions/languages.ts";
import type { Segment } from "../segments/segment.ts";
import { SegmentBuilder } from "../segments/segment-builder.ts";

export interface FileOnDisk {
  readonly path: string;
  readonly language: CodeLanguage;
}

/** Bytes of the largest file whose words are indexed; of larger ones only the name is. */
export const maxFileBytes = 1_000_000;

export function blobId(bytes: Uint8Array): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

export interface Indexed {
  readonly segment: Segment;
  /** The id of each file that was read, in the order of the segment. */
  readonly files: readonly { readonly path: string; readonly id: string }[];
}

/** *Contract:* files that cannot be read are left out. */
export function indexFiles(
  root: string,
  files: readonly FileOnDisk[],
  onFile: (bytes: number) => void = () => {},
): Indexed {
  const builder = new SegmentBuilder();
  const read: { path: string; id: string }[] = [];
  for (const { path, language } of files) {
    const bytes = readQuietly(join(root, path));
    if (!bytes) continue;
    // Of these very bytes: the file may have changed since its id was looked up.
    const id = blobId(bytes);
    const isLarge = bytes.length > maxFileBytes;
    builder.add({ id, language: isLarge ? "none" : language, bytes });
    read.push({ path, id });
    onFile(bytes.length);
  }
  return { segment: builder.finish(), files: read };
}

export function readQuietly(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path);
  } catch {
    // It went away, or may not be read: then nothing is known of it.
    return undefined;
  }
}
