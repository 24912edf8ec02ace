/** Folders below a root, entered without following links. Names have one character per byte, since they need not be UTF-8. */
import { existsSync, lstatSync, mkdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Whether the root and each part below it is a folder, not a link to one. */
export function areFolders(root: string, parts: readonly string[]): boolean {
  return pathsOf(root, parts).every((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory());
}

/** *Contract:* makes missing folders; throws where a part is a link or no folder. */
export function makeFolders(root: string, parts: readonly string[]): void {
  for (const path of pathsOf(root, parts)) {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) mkdirSync(path);
    else if (!stats.isDirectory()) throw new Error(`${path} is no folder`);
  }
}

export function pathBelow(root: string, parts: readonly string[]): Buffer {
  const below = parts.map((part) => `/${part}`).join("");
  return Buffer.concat([Buffer.from(root), Buffer.from(below, "latin1")]);
}

function pathsOf(root: string, parts: readonly string[]): readonly Buffer[] {
  return [pathBelow(root, []), ...parts.map((_, index) => pathBelow(root, parts.slice(0, index + 1)))];
}

/** The path with links in its parent folder resolved, where that exists. */
export function realPlaceOf(path: string): string {
  const around = dirname(path);
  return existsSync(around) ? join(realpathSync(around), basename(path)) : path;
}
