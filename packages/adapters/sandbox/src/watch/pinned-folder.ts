/**
 * A folder held open while its entries are removed, so that no link in its place leads out of the workspace.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fchmodSync,
  openSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { readBounded } from "@lathe/system";
import { isBelow, kindOf } from "@lathe/system/paths";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/** Operations on its entries; each name is a single name, never a path. */
export interface PinnedFolder {
  /** The bytes of a plain file as `latin1`; undefined for everything else. */
  read(name: string): string | undefined;
  /** Removes anything but a folder; returns whether there was something. */
  remove(name: string): boolean;
  /** Renames a folder; leaves anything else. */
  moveAside(name: string, to: string): void;
  /** Replaces anything but a folder by a plain file with these bytes. */
  replace(name: string, text: string, mode: number): void;
  link(name: string, target: string): void;
  /** Removes the folder if it is empty. */
  removeEmpty(name: string): void;
}

/** *Contract:* undefined if the folder is missing or outside the roots, or if `use` is not permitted. */
export function inFolder<T>(
  path: string,
  roots: readonly string[],
  use: (folder: PinnedFolder) => T,
): T | undefined {
  const fd = tryOpen(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (fd === undefined) return undefined;
  try {
    const own = `/proc/self/fd/${fd}`;
    const real = readlinkSync(own);
    return roots.some((root) => isBelow(real, root)) ? use(pinned(own)) : undefined;
  } catch {
    // The folder is not writable, or it changed meanwhile.
    return undefined;
  } finally {
    closeSync(fd);
  }
}

function pinned(own: string): PinnedFolder {
  return {
    read: (name) => readPlain(`${own}/${name}`),
    remove: (name) => {
      const path = `${own}/${name}`;
      const kind = kindOf(path);
      if (!kind || kind.isDirectory()) return false;
      unlinkSync(path);
      return true;
    },
    moveAside: (name, to) => {
      const path = `${own}/${name}`;
      if (kindOf(path)?.isDirectory()) renameSync(path, `${own}/${to}`);
    },
    replace: (name, text, mode) => {
      const made = `${own}/.${name}.${randomBytes(6).toString("hex")}`;
      const fd = openSync(made, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
      try {
        writeFileSync(fd, text, "latin1");
        fchmodSync(fd, mode);
      } finally {
        closeSync(fd);
      }
      renameSync(made, `${own}/${name}`);
    },
    link: (name, target) => symlinkSync(target, `${own}/${name}`),
    removeEmpty: (name) => {
      try {
        rmdirSync(`${own}/${name}`);
      } catch {
        // The folder is not empty, or it is no folder.
      }
    },
  };
}

const maxBytes = 16 * 1024 * 1024;

/** The bytes of a plain file as `latin1`; undefined for everything else. */
export function readPlain(path: string): string | undefined {
  try {
    const file = readBounded(path, { maxBytes: maxBytes });
    return file?.isCut === false ? file.bytes.toString("latin1") : undefined;
  } catch {
    return undefined;
  }
}

function tryOpen(path: string, flags: number): number | undefined {
  try {
    return openSync(path, flags);
  } catch {
    return undefined;
  }
}
