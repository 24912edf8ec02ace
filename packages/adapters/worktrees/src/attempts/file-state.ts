/** The state of a path in a working tree as one text: its kind, its content, and whether it is executable. */
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { addContentOf } from "../add-content.ts";
import { areFolders, pathBelow } from "../real-folders.ts";
import { entriesHash } from "../tree-state.ts";

export const absentState = "absent";

/**
 * The name has one character per byte. A path behind a link counts as absent. A repository, or whatever is in the place of
 * a submodule, counts by the times of everything in it, so that it differs from a copy. Throws file system errors.
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

/** The state of a submodule's folder, which git leaves empty. */
export function submoduleState(root: string, name: string): string {
  return fileState(root, name, repositoryMark);
}

const repositoryMark = "repository ";

export function isRepositoryState(state: string | undefined): boolean {
  return state?.startsWith(repositoryMark) ?? false;
}

/** Whether no folder above the path is a link or missing. */
export function isReached(root: string, name: string): boolean {
  return areFolders(root, bare(name).split("/").slice(0, -1));
}

/** As bytes, since a name need not be UTF-8. */
export function pathOf(root: string, name: string): Buffer {
  return pathBelow(root, [bare(name)]);
}

/** Without the slash that git puts behind a nested repository. */
export function bare(name: string): string {
  return name.replace(/\/$/, "");
}
