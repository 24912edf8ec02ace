/**
 * The folders of one piece of work, each held open from its first use. A comparison and the following change
 * happen in the same folder, and never behind a link.
 */
import { lstatSync, type Stats } from "node:fs";
import { basename, dirname, sep } from "node:path";
import { type EntryName, type HeldFolder, holdAtOnce, holdFolder } from "@lathe/system/held-folder";
import { bytePath, diskPath } from "@lathe/system/paths";
import { errorCode } from "./file-failure.ts";

/** Maximum number of folders held at a time. */
const maxHeld = 256;

/** The error code for a path that leads through a link, or through another folder than before. */
export const movedCode = "EMOVED";

export class HeldPlaces {
  readonly #held = new Map<string, HeldFolder>();
  /** Identity of each folder when it was first held. */
  readonly #seen: Map<string, string>;

  constructor(seen: Map<string, string> = new Map()) {
    this.#seen = seen;
  }

  /**
   * A path that reaches the last component of an absolute path, like `HeldFolder.at`, until the next `trim`
   * or `close`.
   * *Contract:* throws the file system's errors, and `movedCode`.
   */
  at(absolute: string): string {
    return this.#parent(bytePath(absolute)).at(basename(absolute)) as string;
  }

  /** Like `at`, for a path with one character per byte. */
  atBytes(path: string): EntryName {
    const [folder, name] = parted(path);
    return this.folder(folder).at(diskPath(name));
  }

  /** Like `at`, for the folder itself. */
  reach(folder: string): string {
    return this.folder(bytePath(folder)).reached as string;
  }

  /** The folder itself; `path` has one character per byte. It stays open as long as it is reached. */
  folder(path: string): HeldFolder {
    const held = this.#held.get(path);
    if (held) return held;
    const folder = this.#open(path);
    const { dev, ino } = folder.stats();
    const found = `${dev} ${ino}`;
    if ((this.#seen.get(path) ?? found) !== found) {
      folder.close();
      throw movedError(path);
    }
    this.#seen.set(path, found);
    this.#held.set(path, folder);
    return folder;
  }

  /** Whether a link, or another folder than before, has replaced part of the path. */
  isMoved(folder: string): boolean {
    try {
      this.folder(bytePath(folder));
      return false;
    } catch (error) {
      return errorCode(error) === movedCode;
    }
  }

  /** Call after removing a folder: another one may take its place. */
  forget(absolute: string): void {
    const path = bytePath(absolute);
    this.#held.get(path)?.close();
    this.#held.delete(path);
    this.#seen.delete(path);
  }

  /** Calls `use` with places that reopen the folders: any replaced since counts as moved. */
  again<T>(use: (places: HeldPlaces) => T): T {
    const places = new HeldPlaces(this.#seen);
    try {
      return use(places);
    } finally {
      places.close();
    }
  }

  close(): void {
    for (const folder of this.#held.values()) folder.close();
    this.#held.clear();
  }

  /** Call between two uses, so that not too many are held. */
  trim(): void {
    if (this.#held.size > maxHeld) this.close();
  }

  #open(path: string): HeldFolder {
    const above = dirname(path);
    const folder = this.#isSeen(above) ? undefined : holdAtOnce(diskPath(path));
    return folder ?? (above === path ? holdFolder(path) : enter(this.folder(above), path));
  }

  /** Whether a folder on the way was held before: then it must still be the same one. */
  #isSeen(path: string): boolean {
    if (this.#seen.has(path)) return true;
    const above = dirname(path);
    return above !== path && this.#isSeen(above);
  }

  #parent(path: string): HeldFolder {
    return this.folder(dirname(path));
  }
}

/** *Contract:* releases the folders, whatever the outcome. */
export async function withPlaces<T>(use: (places: HeldPlaces) => Promise<T>): Promise<T> {
  const places = new HeldPlaces();
  try {
    return await use(places);
  } finally {
    places.close();
  }
}

/** Like `withPlaces`, for synchronous work. */
export function withPlacesSync<T>(use: (places: HeldPlaces) => T): T {
  const places = new HeldPlaces();
  try {
    return use(places);
  } finally {
    places.close();
  }
}

/** Undefined if nothing can be reached: also below a file, and behind a link. */
export function lstatAt(places: HeldPlaces, path: string): Stats | undefined {
  return ifThere(() => lstatSync(places.atBytes(path), { throwIfNoEntry: false }));
}

/** Undefined if a component is missing, is no folder, or is a link. */
export function ifThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (["ENOENT", "ENOTDIR", movedCode].includes(errorCode(error))) return undefined;
    throw error;
  }
}

/** Like `dirname` and `basename`, but fast enough for a walk. */
function parted(path: string): readonly [folder: string, name: string] {
  const end = path.lastIndexOf("/");
  if (sep !== "/" || end <= 0 || end === path.length - 1) return [dirname(path), basename(path)];
  return [path.slice(0, end), path.slice(end + 1)];
}

function enter(folder: HeldFolder, path: string): HeldFolder {
  const name = diskPath(basename(path));
  try {
    return folder.enter(name);
  } catch (error) {
    if (errorCode(error) === "ENOTDIR" && folder.lstat(name)?.isSymbolicLink()) throw movedError(path, error);
    throw error;
  }
}

function movedError(path: string, cause?: unknown): NodeJS.ErrnoException {
  return Object.assign(new Error(`${movedCode}: ${path}`, { cause }), { code: movedCode });
}
