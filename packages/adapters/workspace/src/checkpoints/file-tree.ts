/**
 * The files at the last look, with data that shows whether one has changed since; stored beside the store.
 */
import { readFileSync, renameSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { removeQuietly } from "../disk/remove-quietly.ts";
import { skippedMode } from "./git-objects.ts";
import { uniqueName } from "./process-marks.ts";

/** A file, a link, or a marker for a skipped entry. */
export interface Leaf {
  readonly kind: "leaf";
  readonly mode: number;
  /** "" until its content has been read. */
  id: string;
  readonly size: number;
  readonly mtime: number;
  readonly ctime: number;
  readonly ino: number;
  /** Read so soon after a change that a later one may look the same: it is read again. */
  readonly racy: boolean;
}

/** A folder's state, which shows whether names in it were added or removed. */
export interface Listed {
  readonly ino: number;
  readonly mtime: number;
  readonly ctime: number;
}

export interface Folder {
  readonly kind: "folder";
  /** When its names were read, if the times are reliable. */
  listed: Listed | undefined;
  readonly isRepository: boolean;
  readonly mode: number;
  /** Id of its tree; "" until it is made. */
  id: string;
  readonly entries: Map<string, Leaf | Folder>;
}

export type Node = Leaf | Folder;

export function skippedLeaf(id: string): Leaf {
  return { kind: "leaf", mode: skippedMode, id, size: 0, mtime: 0, ctime: 0, ino: 0, racy: false };
}

/** Whether all of its objects exist. */
export function isHeld(node: Node, has: (id: string) => boolean): boolean {
  if (node.kind === "leaf") return node.mode === skippedMode || node.id === "" || has(node.id);
  if (node.id !== "" && !has(node.id)) return false;
  for (const entry of node.entries.values()) if (!isHeld(entry, has)) return false;
  return true;
}

const version = 2;

/** Undefined if there is none, or a torn one: then every file is read again. */
export function loadTree(path: string): Folder | undefined {
  try {
    const saved = JSON.parse(readFileSync(path, "latin1")) as readonly [number, Packed];
    if (saved[0] !== version) return undefined;
    const root = unpacked(saved[1]);
    return root.kind === "folder" ? root : undefined;
  } catch {
    return undefined;
  }
}

/** Best effort: without it the next process reads every file once. */
export async function saveTree(path: string, root: Folder): Promise<void> {
  const temporary = `${path}.tmp-${uniqueName()}`;
  try {
    await writeFile(temporary, JSON.stringify([version, packed(root)]), { encoding: "latin1", mode: 0o600 });
    renameSync(temporary, path);
  } catch {
    removeQuietly(temporary);
  }
}

type PackedLeaf = readonly [number, string, number, number, number, number, number];
type PackedFolder = readonly [number, string, Readonly<Record<string, unknown>>, boolean, Listed | null];
type Packed = PackedLeaf | PackedFolder;

function packed(node: Node): Packed {
  if (node.kind === "leaf") {
    return [node.mode, node.id, node.size, node.mtime, node.ctime, node.ino, node.racy ? 1 : 0];
  }
  const entries = Array.from(node.entries, ([name, entry]) => [`/${name}`, packed(entry)] as const);
  return [node.mode, node.id, Object.fromEntries(entries), node.isRepository, node.listed ?? null];
}

function unpacked(from: Packed): Node {
  if (from.length === 7) {
    const [mode, id, size, mtime, ctime, ino, racy] = from;
    return { kind: "leaf", mode, id, size, mtime, ctime, ino, racy: racy === 1 };
  }
  const [mode, id, children, isRepository, listed] = from;
  const entries = new Map<string, Node>();
  for (const [name, entry] of Object.entries(children)) entries.set(name.slice(1), unpacked(entry as Packed));
  return { kind: "folder", mode, id, entries, isRepository, listed: listed ?? undefined };
}
