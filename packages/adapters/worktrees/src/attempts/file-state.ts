/** What is at a path of a working tree, in one text: kind, content, and whether it can be run. */
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { addContentOf } from "../add-content.ts";
import { areFolders, pathBelow } from "../real-folders.ts";
import { entriesHash } from "../tree-state.ts";

export const absentState = "absent";

/**
 * The name is of one character per byte. What lies behind a link is not there. A repository, or what is in the place of
 * a submodule, counts by all that is in it, and is told from a copy of it. Throws what the disk says.
 */
export function fileState(root: string, name: string, was?: string): string {
  if (!isReached(root, name)) return absentState;
  const path = pathOf(root, name);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return absentState;
  if (stats.isSymbolicLink()) return `link ${readlinkSync(path, { encoding: "latin1" })}`;
  if (stats.isFile()) {
    const hash = createHash("sha256");
    addContentOf(hash, path);
    return `file ${hash.digest("hex")}${(stats.mode & 0o100) === 0 ? "" : " runs"}`;
  }
  if (!stats.isDirectory()) return "other";
  const isRepository = isRepositoryState(was) || existsSync(pathOf(root, `${bare(name)}/.git`));
  return isRepository ? `${repositoryMark}${entriesHash(path)}` : "folder";
}

/** Its folder is empty, or should be. */
export function submoduleState(root: string, name: string): string {
  return fileState(root, name, repositoryMark);
}

const repositoryMark = "repository ";

export function isRepositoryState(state: string | undefined): boolean {
  return state?.startsWith(repositoryMark) ?? false;
}

/** No part above it is a link, or missing. */
export function isReached(root: string, name: string): boolean {
  return areFolders(root, bare(name).split("/").slice(0, -1));
}

/** As bytes, since a name need not be UTF-8. */
export function pathOf(root: string, name: string): Buffer {
  return pathBelow(root, [bare(name)]);
}

/** Git names a repository inside with a slash at the end. */
export function bare(name: string): string {
  return name.replace(/\/$/, "");
}
