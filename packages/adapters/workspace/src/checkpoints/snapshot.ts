/** Brings the store up to date with the files: reads what looks changed, and makes the trees above it. */
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { joined } from "@lathe/system/paths";
import { withPlaces } from "../held-places.ts";
import { type Folder, skippedLeaf } from "./file-tree.ts";
import { encodeTree, skippedId } from "./git-objects.ts";
import type { ObjectStore } from "./object-store.ts";
import { readContent } from "./read-content.ts";
import {
  noteSkipped,
  type SkipList,
  type Unread,
  type Walked,
  type WalkOptions,
  walkFiles,
} from "./walk-files.ts";

export interface SnapshotOptions extends Omit<WalkOptions, "places"> {
  readonly store: ObjectStore;
  /** Maximum bytes of the store. */
  readonly quota: number;
}

export interface Snapshot extends SkipList {
  readonly root: Folder;
  /** Number of files read. */
  readonly read: number;
  /** Some of it is not read yet, or the trees are not made: it serves the next attempt. */
  readonly failed?: Failure;
}

/** Every object it names is in the store, durable once the store is flushed, unless it failed. */
export function takeSnapshot(
  options: SnapshotOptions,
  before: Folder | undefined,
): Promise<Snapshot | Failure> {
  return withPlaces((places) => snapshotIn({ ...options, places }, before));
}

type Snapping = SnapshotOptions & WalkOptions;

async function snapshotIn(options: Snapping, before: Folder | undefined): Promise<Snapshot | Failure> {
  const walked = await walkFiles(options, before);
  if (isFailure(walked)) return walked;
  const failed = (await readAll(options, walked)) ?? (await seal(options, walked.root));
  const { root, skipped, skippedCount } = walked;
  return { root, read: walked.unread.length, skipped, skippedCount, ...(failed && { failed }) };
}

async function readAll(options: Snapping, walked: Walked): Promise<Failure | undefined> {
  const { pace, store, quota } = options;
  for (const unread of walked.unread) {
    const slow = pace.due ? await pace.rest() : undefined;
    if (slow) return slow;
    if (store.size > quota) return overQuota(quota);
    await readOne(options, walked, unread);
  }
  return undefined;
}

async function readOne(options: Snapping, list: SkipList, { folder, name, path }: Unread): Promise<void> {
  options.places.trim();
  const content = readContent(joined(options.root, path), options.maxFileBytes, options.places);
  if (content === undefined) {
    folder.entries.delete(name);
  } else if (typeof content === "string") {
    noteSkipped(list, path, content);
    folder.entries.set(name, skippedLeaf(skippedId(content)));
  } else {
    const id = await options.store.put("blob", content.bytes);
    folder.entries.set(name, { ...content.leaf, id });
  }
}

/** Makes the trees of the folders that have none. */
async function seal(options: SnapshotOptions, folder: Folder): Promise<Failure | undefined> {
  if (folder.id !== "") return undefined;
  const stopped = options.pace.due ? await options.pace.rest() : undefined;
  // The content is read: giving up because of the time would save nothing now.
  if (stopped?.code === "cancelled") return stopped;
  for (const entry of folder.entries.values()) {
    const failed = entry.kind === "folder" ? await seal(options, entry) : undefined;
    if (failed) return failed;
  }
  const entries = Array.from(folder.entries, ([name, { mode, id }]) => ({ name, mode, id }));
  folder.id = await options.store.put("tree", encodeTree(entries));
  return undefined;
}

function overQuota(quota: number): Failure {
  const room = `${Math.round(quota / 1024 / 1024)} MB`;
  return failure("too-large", `The files here need more than the ${room} that checkpoints may take.`, {
    who: "user",
    retry: "same",
  });
}
