/** Reads the whole index of a working tree: its own file, and the shared base of a split index. */

import type { HeldFolder } from "../held-folder.ts";
import type { CachedTree } from "./cached-tree.ts";
import { readHeldFile } from "./held-file.ts";
import { type IndexEntry, IndexFormatError, readIndexPart } from "./index-entries.ts";
import { joinIndexes, readLink } from "./split-index.ts";

export interface GitIndex {
  /** By path, then by stage. */
  readonly entries: readonly IndexEntry[];
  readonly trees?: CachedTree;
  /** When the file was written; later changes may have been recorded before. */
  readonly writtenMs: number;
}

/** An entry takes about a hundred bytes. */
const maxBytes = 256 * 1024 * 1024;

/**
 * `gitFolder`: the working tree's own. *Contract:* empty if there is no index; throws if it cannot be read
 * completely and in order.
 */
export function readIndex(gitFolder: HeldFolder, idBytes: number): GitIndex {
  const file = readHeldFile(gitFolder, "index", maxBytes);
  if (!file) return { entries: [], writtenMs: 0 };
  const { entries, trees, link } = readIndexPart(file.bytes, idBytes);
  const whole = link ? joined(entries, link, { gitFolder, idBytes }) : entries;
  refuseDisorder(whole);
  return { entries: whole, ...(trees && { trees }), writtenMs: file.stats.mtimeMs };
}

interface IndexPlace {
  readonly gitFolder: HeldFolder;
  readonly idBytes: number;
}

function joined(
  own: readonly IndexEntry[],
  bytes: Buffer,
  { gitFolder, idBytes }: IndexPlace,
): readonly IndexEntry[] {
  const link = readLink(bytes, idBytes);
  if (link.base === undefined) return own;
  const shared = readHeldFile(gitFolder, `sharedindex.${link.base}`, maxBytes);
  if (!shared) throw new IndexFormatError("the index on which it builds is missing");
  return joinIndexes(own, readIndexPart(shared.bytes, idBytes).entries, link);
}

function refuseDisorder(entries: readonly IndexEntry[]): void {
  for (let at = 1; at < entries.length; at++) {
    const [one, next] = [entries[at - 1], entries[at]] as [IndexEntry, IndexEntry];
    if (one.path > next.path || (one.path === next.path && one.stage >= next.stage))
      throw new IndexFormatError("entries are not in order");
  }
}
