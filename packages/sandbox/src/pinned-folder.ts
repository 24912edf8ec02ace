/** A folder held open while something is taken out of it, so that no link put in its place leads out of the workspace. */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { kindOf } from "./kind-of.ts";
import { isBelow } from "./path-order.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_TRUNC, O_WRONLY } = constants;

/** What can be done in it; names are single names, never paths. */
export interface PinnedFolder {
  names(): readonly string[];
  /** Removes what is no folder; whether there was something. */
  remove(name: string): boolean;
  /** The text of a plain file. */
  read(name: string): string | undefined;
  write(name: string, text: string): void;
}

/** *Contract:* undefined when there is no such folder, or it is not in the workspace. Throws what `use` throws. */
export function inFolder<T>(
  path: string,
  workspace: string,
  use: (folder: PinnedFolder) => T,
): T | undefined {
  const fd = tryOpen(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (fd === undefined) return undefined;
  try {
    const own = `/proc/self/fd/${fd}`;
    return isBelow(readlinkSync(own), workspace) ? use(pinned(own)) : undefined;
  } finally {
    closeSync(fd);
  }
}

function pinned(own: string): PinnedFolder {
  return {
    names: () => readdirSync(own),
    remove: (name) => {
      const path = `${own}/${name}`;
      const kind = kindOf(path);
      if (!kind || kind.isDirectory()) return false;
      unlinkSync(path);
      return true;
    },
    read: (name) => {
      // A pipe in place of the file must not keep us waiting.
      const fd = tryOpen(`${own}/${name}`, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      if (fd === undefined) return undefined;
      try {
        return fstatSync(fd).isFile() ? readFileSync(fd, "utf8") : undefined;
      } finally {
        closeSync(fd);
      }
    },
    write: (name, text) => {
      const fd = openSync(`${own}/${name}`, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_NONBLOCK);
      try {
        writeFileSync(fd, text);
      } finally {
        closeSync(fd);
      }
    },
  };
}

function tryOpen(path: string, flags: number): number | undefined {
  try {
    return openSync(path, flags);
  } catch {
    return undefined;
  }
}
