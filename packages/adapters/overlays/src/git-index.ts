/** Whether two of git's indexes say the same: `git status` alone writes one anew, with other times in it. */
import { entryId, type IndexEntry, type IndexPart, readIndexPart } from "@lathe/system/git/index-entries";

/** *Contract:* false where it cannot be told. */
export function isSameIndex(one: Buffer, other: Buffer): boolean {
  if (one.equals(other)) return true;
  const [part, another] = [partOf(one), partOf(other)];
  if (!part || !another || part.entries.length !== another.entries.length) return false;
  return part.entries.every((entry, at) => isSameEntry(entry, another.entries[at]));
}

const idBytes = 20;

/** Undefined for what is no index of that kind, and for one that builds on another. */
function partOf(index: Buffer): IndexPart | undefined {
  try {
    const part = readIndexPart(index, idBytes);
    return part.link ? undefined : part;
  } catch {
    return undefined;
  }
}

/** All but what is only true of a file on a disk. */
function isSameEntry(one: IndexEntry, other: IndexEntry | undefined): boolean {
  return (
    other !== undefined &&
    one.path === other.path &&
    one.mode === other.mode &&
    one.stage === other.stage &&
    one.isAssumedUnchanged === other.isAssumedUnchanged &&
    one.isSkipped === other.isSkipped &&
    one.isIntentToAdd === other.isIntentToAdd &&
    entryId(one, idBytes) === entryId(other, idBytes)
  );
}
