/** The state of a path, remembered so that it can be restored without following any link. */
import { randomBytes } from "node:crypto";
import { readlinkSync, type Stats } from "node:fs";
import { basename, dirname } from "node:path";
import { kindOf } from "@lathe/system/paths";
import { inFolder, readPlain } from "./pinned-folder.ts";

export type FileState =
  | { readonly kind: "none" }
  | {
      readonly kind: "file";
      readonly stamp: string;
      readonly text: string | undefined;
      readonly mode: number;
    }
  | { readonly kind: "link"; readonly stamp: string; readonly target: string }
  | { readonly kind: "other"; readonly stamp: string };

/** The content of larger files is not remembered, only that they changed. */
const maxBytes = 2 ** 20;

/** Equal as long as the file is untouched: only the kernel sets the change time. */
export function stampOf(stats: Stats): string {
  return `${stats.ino} ${stats.size} ${stats.ctimeMs} ${stats.mode}`;
}

export function stateOf(path: string): FileState {
  const stats = kindOf(path);
  if (!stats) return { kind: "none" };
  const stamp = stampOf(stats);
  try {
    if (stats.isSymbolicLink()) return { kind: "link", stamp, target: readlinkSync(path) };
    if (!stats.isFile()) return { kind: "other", stamp };
    const text = stats.size > maxBytes ? undefined : readPlain(path);
    return { kind: "file", stamp, text, mode: stats.mode & 0o777 };
  } catch {
    return { kind: "other", stamp };
  }
}

/** Bytes as `latin1`, so that they are restored unchanged. */
export function isSameState(a: FileState, b: FileState): boolean {
  switch (a.kind) {
    case "none":
      return b.kind === "none";
    case "file":
      return b.kind === "file" && a.text === b.text && (a.text !== undefined || a.stamp === b.stamp);
    case "link":
      return b.kind === "link" && a.target === b.target;
    case "other":
      return b.kind === "other";
  }
}

/**
 * *Contract:* true if the path is as before now; false if its folder is gone, not in `roots`, or not
 * writable.
 */
export function putBack(path: string, state: FileState, roots: readonly string[]): boolean {
  const name = basename(path);
  const isDone = inFolder(dirname(path), roots, (folder) => {
    if (state.kind === "file" && state.text !== undefined) {
      folder.moveAside(name, asideOf(name));
      folder.replace(name, state.text, state.mode);
      return true;
    }
    if (state.kind !== "none" && state.kind !== "link") return false;
    folder.remove(name);
    folder.moveAside(name, asideOf(name));
    if (state.kind === "link") folder.link(name, state.target);
    return true;
  });
  return isDone ?? false;
}

function asideOf(name: string): string {
  return `${name}.taken-back-${randomBytes(4).toString("hex")}`;
}
