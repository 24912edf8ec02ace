/** Git's object format: ids, trees and commits. Trees keep all permission bits, unlike git's own. */
import { createHash } from "node:crypto";
import type { SkipReason } from "@lathe/protocol";

export type ObjectType = "blob" | "tree" | "commit";

export const fileType = 0o100000;
export const linkMode = 0o120000;
export const folderType = 0o040000;
/** Git's submodule entry needs no object: it marks a skipped entry, and its id gives the reason. */
export const skippedMode = 0o160000;

const typeMask = 0o170000;

export interface TreeEntry {
  /** One character per byte. */
  readonly name: string;
  readonly mode: number;
  readonly id: string;
}

export type EntryKind = "file" | "link" | "folder" | "skipped";

export function kindOf(mode: number): EntryKind {
  switch (mode & typeMask) {
    case folderType:
      return "folder";
    case linkMode:
      return "link";
    case skippedMode:
      return "skipped";
    default:
      return "file";
  }
}

export function permissions(mode: number): number {
  return mode & 0o7777;
}

export function objectId(type: ObjectType, bytes: Uint8Array): string {
  return createHash("sha1").update(`${type} ${bytes.length}\0`).update(bytes).digest("hex");
}

const reasonIds: Readonly<Record<SkipReason, string>> = {
  ignored: reasonId("ignored"),
  "too-large": reasonId("too-large"),
  unreadable: reasonId("unreadable"),
  special: reasonId("special"),
  lathe: reasonId("lathe"),
  repository: reasonId("repository"),
};
const reasons = new Map(Object.entries(reasonIds).map(([why, id]) => [id, why as SkipReason]));

function reasonId(why: SkipReason): string {
  return objectId("blob", Buffer.from(`skipped: ${why}`));
}

export function skippedId(why: SkipReason): string {
  return reasonIds[why];
}

/** The reason in an id from `skippedId`. */
export function skipReason(id: string): SkipReason {
  return reasons.get(id) ?? "special";
}

/** In git's order: by bytes, folders as if their names ended in a slash. */
export function encodeTree(entries: Iterable<TreeEntry>): Buffer {
  const keyed = Array.from(entries, (entry) => {
    return { entry, key: kindOf(entry.mode) === "folder" ? `${entry.name}/` : entry.name };
  });
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1));
  const parts: string[] = [];
  for (const { entry } of keyed) {
    parts.push(`${entry.mode.toString(8)} ${entry.name}\0${Buffer.from(entry.id, "hex").toString("latin1")}`);
  }
  return Buffer.from(parts.join(""), "latin1");
}

/** Undefined for what is not a tree. */
export function decodeTree(bytes: Buffer): readonly TreeEntry[] | undefined {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    if (space < 0 || end < 0 || end + 21 > bytes.length) return undefined;
    const mode = Number.parseInt(bytes.toString("latin1", at, space), 8);
    const name = bytes.toString("latin1", space + 1, end);
    if (Number.isNaN(mode) || !isName(name)) return undefined;
    entries.push({ name, mode, id: bytes.toString("hex", end + 1, end + 21) });
    at = end + 21;
  }
  return entries;
}

/** A broken or forged tree must not lead out of the folder. */
function isName(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !name.includes("/");
}

export interface Commit {
  readonly tree: string;
  readonly parents: readonly string[];
  /** Seconds since the epoch. */
  readonly at: number;
}

export function encodeCommit({ tree, parents, at }: Commit): Buffer {
  const who = `Lathe <lathe@localhost> ${at} +0000`;
  const lines = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`)];
  return Buffer.from([...lines, `author ${who}`, `committer ${who}`, "", "checkpoint\n"].join("\n"));
}

/** Its tree; undefined for what is no commit. */
export function treeOfCommit(bytes: Buffer): string | undefined {
  const text = bytes.toString("latin1");
  return /^tree ([0-9a-f]{40})$/m.exec(text)?.[1];
}
