/** The trees that an index caches, so that unchanged folders are known without checking their files. */

export interface CachedTree {
  /** Absent if something below it was staged since it was written. */
  readonly id?: string;
  readonly folders: ReadonlyMap<string, CachedTree>;
}

const maxDepth = 500;

/** *Contract:* throws a `RangeError` for truncated or invalid data. */
export function readCachedTree(bytes: Buffer, idBytes: number): CachedTree {
  return readNode(bytes, { at: 0, idBytes, depth: 0 }).tree;
}

interface NodePlace {
  readonly at: number;
  readonly idBytes: number;
  readonly depth: number;
}

interface ReadNode {
  readonly name: string;
  readonly tree: CachedTree;
  readonly end: number;
}

/**
 * A name and a zero, the number of entries, a space, the number of folders, a line break, an ID unless
 * entries are -1.
 */
function readNode(bytes: Buffer, { at, idBytes, depth }: NodePlace): ReadNode {
  const nameEnd = bytes.indexOf(0, at);
  const lineEnd = bytes.indexOf(10, nameEnd);
  const counts = /^(-?\d{1,10}) (\d{1,10})$/.exec(bytes.toString("latin1", nameEnd + 1, lineEnd));
  if (nameEnd < 0 || lineEnd < 0 || !counts || depth > maxDepth)
    throw new RangeError("cached trees cannot be read");
  let end = lineEnd + 1;
  const isValid = Number(counts[1]) >= 0;
  if (isValid) end += idBytes;
  if (end > bytes.length) throw new RangeError("cached trees are cut off");
  const id = isValid ? bytes.toString("hex", end - idBytes, end) : undefined;
  const folders = new Map<string, CachedTree>();
  for (let left = Number(counts[2]); left > 0; left--) {
    const node = readNode(bytes, { at: end, idBytes, depth: depth + 1 });
    folders.set(node.name, node.tree);
    end = node.end;
  }
  const name = bytes.toString("latin1", at, nameEnd);
  return { name, tree: { ...(id !== undefined && { id }), folders }, end };
}
