/** Differences between two trees in the store; each folder comes before its content. */
import { type Failure, isFailure } from "@lathe/protocol";
import { joined } from "@lathe/system/paths";
import { kindOf, type TreeEntry } from "./git-objects.ts";
import type { ObjectReader } from "./object-reader.ts";

export interface TreeChange {
  /** One character per byte. */
  readonly path: string;
  readonly before?: TreeEntry | undefined;
  readonly after?: TreeEntry | undefined;
}

interface Pair {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export async function compareTrees(
  reader: ObjectReader,
  before: string,
  after: string,
): Promise<readonly TreeChange[] | Failure> {
  const changes: TreeChange[] = [];
  const failed = await compare(reader, { path: "", before, after }, changes);
  return failed ?? changes;
}

async function compare(
  reader: ObjectReader,
  { path, before, after }: Pair,
  changes: TreeChange[],
): Promise<Failure | undefined> {
  if (before === after) return undefined;
  const [old, now] = await Promise.all([entriesOf(reader, before), entriesOf(reader, after)]);
  if (isFailure(old)) return old;
  if (isFailure(now)) return now;
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  for (const name of names) {
    const change = { path: joined(path, name), before: old.get(name), after: now.get(name) };
    const isChanged = change.before?.mode !== change.after?.mode;
    const isContent = change.before?.id !== change.after?.id;
    if (isChanged || (isContent && !(isFolder(change.before) && isFolder(change.after))))
      changes.push(change);
    const pair = { path: change.path, before: folderId(change.before), after: folderId(change.after) };
    const failed = await compare(reader, pair, changes);
    if (failed) return failed;
  }
  return undefined;
}

async function entriesOf(
  reader: ObjectReader,
  id: string | undefined,
): Promise<ReadonlyMap<string, TreeEntry> | Failure> {
  if (id === undefined) return new Map();
  const entries = await reader.tree(id);
  return isFailure(entries) ? entries : new Map(entries.map((entry) => [entry.name, entry]));
}

export function isFolder(entry: TreeEntry | undefined): boolean {
  return entry !== undefined && kindOf(entry.mode) === "folder";
}

function folderId(entry: TreeEntry | undefined): string | undefined {
  return isFolder(entry) ? entry?.id : undefined;
}
