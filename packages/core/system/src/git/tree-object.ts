/** What commits and trees say: a commit's tree, and a tree's entries. */
import { ObjectError } from "./git-object.ts";
import type { ObjectStore } from "./object-store.ts";

export interface TreeEntry {
  readonly mode: number;
  readonly id: string;
}

/** *Contract:* as `ObjectStore.read`. */
export function treeOfCommit(commit: string, store: ObjectStore): string {
  const { type, bytes } = store.read(commit);
  const tree = /^tree ([0-9a-f]{40,64})\n/.exec(bytes.toString("latin1", 0, 80))?.[1];
  if (type !== "commit" || tree === undefined) throw new ObjectError(`${commit} is no commit`);
  return tree;
}

/** By name, one character per byte. *Contract:* as `ObjectStore.read`. */
export function readTree(id: string, store: ObjectStore): ReadonlyMap<string, TreeEntry> {
  const { type, bytes } = store.read(id);
  if (type !== "tree") throw new ObjectError(`${id} is no tree`);
  const entries = new Map<string, TreeEntry>();
  const idBytes = id.length / 2;
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    if (space < 0 || end < 0 || end + 1 + idBytes > bytes.length) throw new ObjectError(`${id} is cut off`);
    const mode = Number.parseInt(bytes.toString("latin1", at, space), 8);
    const entry = { mode, id: bytes.toString("hex", end + 1, end + 1 + idBytes) };
    entries.set(bytes.toString("latin1", space + 1, end), entry);
    at = end + 1 + idBytes;
  }
  return entries;
}
