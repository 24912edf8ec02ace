/** What is at a path of a working tree, in one text: kind, content, and whether it can be run. */
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync, readlinkSync } from "node:fs";
import { areFolders } from "../worktrees/real-folders.ts";

export const absentState = "absent";

/** The name is of one character per byte. What lies behind a link is not there. Throws what the disk says. */
export function fileState(root: string, name: string): string {
  if (!isReached(root, name)) return absentState;
  const path = pathOf(root, name);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return absentState;
  if (stats.isSymbolicLink()) return linkState(readlinkSync(path, { encoding: "buffer" }));
  if (stats.isFile()) return contentState(readFileSync(path), (stats.mode & 0o100) !== 0);
  if (!stats.isDirectory()) return "other";
  return existsSync(pathOf(root, `${bare(name)}/.git`)) ? "repository" : "folder";
}

export function contentState(bytes: Buffer, canRun: boolean): string {
  return `file ${createHash("sha256").update(bytes).digest("hex")}${canRun ? " runs" : ""}`;
}

export function linkState(target: Buffer): string {
  return `link ${target.toString("latin1")}`;
}

/** No part above it is a link, or missing. */
export function isReached(root: string, name: string): boolean {
  return areFolders(root, bare(name).split("/").slice(0, -1));
}

/** As bytes, since a name need not be UTF-8. */
export function pathOf(root: string, name: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(bare(name), "latin1")]);
}

/** Git names a repository inside with a slash at the end. */
export function bare(name: string): string {
  return name.replace(/\/$/, "");
}
