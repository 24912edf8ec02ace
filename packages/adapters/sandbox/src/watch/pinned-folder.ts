/** A folder held open while something is taken out of it, so that no link put in its place leads out of the workspace. */
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

/** What can be done in it; names are single names, never paths. */
export interface PinnedFolder {
  /** The bytes of a plain file as `latin1`; undefined for everything else. */
  read(name: string): string | undefined;
  /** Removes what is no folder; whether there was something. */
  remove(name: string): boolean;
  /** Gives a folder of that name another one; anything else stays. */
  moveAside(name: string, to: string): void;
  /** A plain file with these bytes takes the place of what is no folder. */
  replace(name: string, text: string, mode: number): void;
  link(name: string, target: string): void;
  /** Removes an empty folder; one that is not stays. */
  removeEmpty(name: string): void;
}

/** *Contract:* undefined when there is no such folder, it is in none of the roots, or what `use` does is not allowed. */
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
    // A folder that is not ours to change, or a change under our hands.
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
        // It holds something else, or is no folder.
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
