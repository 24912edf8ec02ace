/** Paths whose index entry differs from a commit: folders with a cached tree are compared only by ID. */
import type { CachedTree } from "./cached-tree.ts";
import { ObjectError } from "./git-object.ts";
import { entryId, entryType, type IndexEntry } from "./index-entries.ts";
import type { ObjectStore } from "./object-store.ts";
import type { GitIndex } from "./read-index.ts";
import type { WalkBudget } from "./walk-budget.ts";

interface TreeEntry {
  readonly mode: number;
  readonly id: string;
}

interface Compared {
  readonly entries: readonly IndexEntry[];
  readonly store: ObjectStore;
  readonly idBytes: number;
  readonly budget: WalkBudget;
  /** By path: the new object, and the removed one. */
  readonly added: Map<string, string>;
  readonly removed: Map<string, string>;
}

interface CommitPlace {
  /** Absent before the first commit. */
  readonly commit?: string;
  readonly store: ObjectStore;
  readonly idBytes: number;
  readonly budget: WalkBudget;
}

/**
 * *Contract:* without files that were only moved away; throws if an object cannot be read or the budget is
 * spent.
 */
export function stagedChanges(index: GitIndex, { commit, ...place }: CommitPlace): ReadonlySet<string> {
  const compared: Compared = { ...place, entries: index.entries, added: new Map(), removed: new Map() };
  const tree = commit === undefined ? undefined : treeOfCommit(commit, place.store);
  const range = { from: 0, to: index.entries.length, prefix: "" };
  compareFolder(compared, range, { tree, cached: index.trees });
  const moved = new Set(
    [...compared.added].flatMap(([path, id]) => (compared.removed.has(path) ? [] : [id])),
  );
  const gone = [...compared.removed].filter(([path, id]) => compared.added.has(path) || !moved.has(id));
  const unfinished = index.entries.filter(({ stage, isIntentToAdd }) => stage > 0 || isIntentToAdd);
  return new Set([
    ...compared.added.keys(),
    ...gone.map(([path]) => path),
    ...unfinished.map(({ path }) => path),
  ]);
}

/** The entries below a folder, whose path ends with a slash, as a range of positions. */
interface Range {
  readonly from: number;
  readonly to: number;
  readonly prefix: string;
}

interface Trees {
  readonly tree: string | undefined;
  readonly cached: CachedTree | undefined;
}

function compareFolder(compared: Compared, { from, to, prefix }: Range, { tree, cached }: Trees): void {
  if (tree !== undefined && cached?.id === tree) return;
  const { entries, budget } = compared;
  const left = new Map(tree === undefined ? [] : readTree(tree, compared.store));
  for (let at = from; at < to; ) {
    budget.spend();
    const entry = entries[at] as IndexEntry;
    const slash = slashAfter(entry.path, prefix);
    const name = entry.path.slice(prefix.length, slash < 0 ? entry.path.length : slash).replace(/\/$/, "");
    const other = left.get(name);
    if (slash < 0) {
      compareEntry(compared, entry, other);
      left.delete(name);
      at++;
    } else {
      const folder = entry.path.slice(0, slash + 1);
      const end = rangeEnd(entries, at, folder);
      const tree = treeOf(other);
      const trees = { tree, cached: cached?.folders.get(name) };
      compareFolder(compared, { from: at, to: end, prefix: folder }, trees);
      if (tree !== undefined) left.delete(name);
      at = end;
    }
  }
  for (const [name, entry] of left) removeAll(compared, prefix + name, entry);
}

/**
 * The end of the next folder name in a path; -1 for an entry directly in the folder, also for a collapsed
 * folder.
 */
export function slashAfter(path: string, prefix: string): number {
  const slash = path.indexOf("/", prefix.length);
  return slash === path.length - 1 ? -1 : slash;
}

function treeOf(entry: TreeEntry | undefined): string | undefined {
  return entry && (entry.mode & entryType.mask) === entryType.folder ? entry.id : undefined;
}

/** The first position from `at` on whose path is not below the folder. */
export function rangeEnd(entries: readonly IndexEntry[], at: number, folder: string): number {
  let end = at;
  while (entries[end]?.path.startsWith(folder)) end++;
  return end;
}

function compareEntry(compared: Compared, entry: IndexEntry, other: TreeEntry | undefined): void {
  const id = entryId(entry, compared.idBytes);
  const path = entry.path.replace(/\/$/, "");
  if (other?.id === id && plainMode(other.mode) === entry.mode) return;
  compared.added.set(path, id);
  if (other) compared.removed.set(path, other.id);
}

/** Older versions of git wrote other permissions into trees. */
function plainMode(mode: number): number {
  if ((mode & entryType.mask) !== entryType.file) return mode;
  return entryType.file | (mode & 0o100 ? 0o755 : 0o644);
}

/** A removed folder counts by its files. */
function removeAll(compared: Compared, path: string, { mode, id }: TreeEntry): void {
  compared.budget.spend();
  if ((mode & entryType.mask) !== entryType.folder) {
    compared.removed.set(path, id);
    return;
  }
  for (const [name, entry] of readTree(id, compared.store)) removeAll(compared, `${path}/${name}`, entry);
}

/** *Contract:* as `ObjectStore.read`. */
function treeOfCommit(commit: string, store: ObjectStore): string {
  const { type, bytes } = store.read(commit);
  const tree = /^tree ([0-9a-f]{40,64})\n/.exec(bytes.toString("latin1", 0, 80))?.[1];
  if (type !== "commit" || tree === undefined) throw new ObjectError(`${commit} is no commit`);
  return tree;
}

/** By name, one character per byte. *Contract:* as `ObjectStore.read`. */
function readTree(id: string, store: ObjectStore): ReadonlyMap<string, TreeEntry> {
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
