/** Builds the index of exact search, or brings it up to date, and says what is in it. */
import type { Place } from "../place.ts";
import { defaultQuota } from "../segments/segment-cache.ts";
import { ExactIndex } from "./exact-index.ts";

export interface TrigramState {
  /** Files whose trigrams are known. */
  readonly files: number;
  /** Of all segments. */
  readonly bytes: number;
  readonly segments: number;
}

/** Files from which on an index is faster than ripgrep alone. */
export const worthAnIndex = 2_000;

export interface BuildOptions {
  readonly folder?: string;
  readonly mayIndex: (path: string) => boolean;
  readonly quota?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Undefined where there is no place for it, or nothing to gain. */
export async function buildExactIndex(
  place: Place,
  { folder, mayIndex, quota = defaultQuota, onProgress = () => {} }: BuildOptions,
): Promise<TrigramState | undefined> {
  if (folder === undefined) return undefined;
  const index = new ExactIndex(place, { folder, quota, mayIndex, fromFiles: worthAnIndex });
  await index.build(onProgress);
  const { segments, files, unknown } = index.tree;
  if (segments.length === 0) return undefined;
  const bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  return { files: files.size - unknown.size, bytes, segments: segments.length };
}
