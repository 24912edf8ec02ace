/** Copied segments: duplicate trigram segments, left by sessions that build at the same time. */
import { basename } from "node:path";
import { idWords } from "../segments/segment.ts";
import type { KeptTree } from "./tree-file.ts";
import type { TrigramSegment } from "./trigram-segment.ts";

/**
 * Of several copies, keeps the one with most files of this tree. *Contract:* never returns a segment with the
 * only copy of a file.
 */
export function copiedSegments(
  segments: readonly TrigramSegment[],
  tree: KeptTree | undefined,
): readonly TrigramSegment[] {
  if (segments.length < 2) return [];
  const weights = new Map<string, number>();
  for (const { segment } of tree?.files ?? []) {
    const name = tree?.segments[segment] ?? "";
    weights.set(name, (weights.get(name) ?? 0) + 1);
  }
  const weightOf = ({ path }: TrigramSegment): number => weights.get(basename(path)) ?? 0;
  const known = new Set<number>();
  const order = segments.toSorted(
    (a, b) => weightOf(b) - weightOf(a) || b.files - a.files || (a.path < b.path ? -1 : 1),
  );
  return order.filter(({ ids, files }) => {
    const before = known.size;
    for (let file = 0; file < files; file++) known.add(keyAt(ids, file * idWords));
    return known.size === before;
  });
}

/** Of an id as many bits as a number has: for two files that share them one is searched as it is. */
function keyAt(ids: Uint32Array, at: number): number {
  return (ids[at] as number) * 2 ** 21 + ((ids[at + 1] as number) >>> 11);
}
