/** Folders below a root that are gone into without ever following a link. */
import { lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";

/** Whether the root and each part below it is a folder itself, and no link to one. */
export function areFolders(root: string, parts: readonly string[]): boolean {
  return pathsOf(root, parts).every((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory());
}

/** *Contract:* makes what is missing; throws where a part is a link or no folder. */
export function makeFolders(root: string, parts: readonly string[]): void {
  for (const path of pathsOf(root, parts)) {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) mkdirSync(path);
    else if (!stats.isDirectory()) throw new Error(`${path} is no folder`);
  }
}

function pathsOf(root: string, parts: readonly string[]): readonly string[] {
  return [root, ...parts.map((_, index) => join(root, ...parts.slice(0, index + 1)))];
}
