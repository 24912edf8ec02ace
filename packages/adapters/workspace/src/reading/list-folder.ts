/** Lists a folder, and stamps a file's last change, without following a link to either. */
import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { type Entry, type Failure, failure } from "@lathe/protocol";
import { type HeldFolder, withFolder, withParent } from "@lathe/system/held-folder";
import { errorCode, fileFailure } from "../file-failure.ts";
import { movedAway } from "./read-file.ts";
import type { Resolved } from "./resolve-path.ts";

/** Undefined where there is nothing. */
export function listFolder({ path, absolute }: Resolved): readonly Entry[] | undefined | Failure {
  try {
    return withFolder(absolute, entriesIn);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return undefined;
    if (code !== "ENOTDIR") return fileFailure(path, error);
    return isFile(absolute) ? failure("not-a-file", `${path} is a file: use \`read\`.`) : movedAway(path);
  }
}

/** Undefined for anything but a regular file; a different text after each change. */
export function stampOf({ absolute }: Resolved): string | undefined {
  try {
    const stats = withParent(absolute, (folder, name) =>
      lstatSync(folder.at(name), { bigint: true, throwIfNoEntry: false }),
    );
    return stats?.isFile() ? `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` : undefined;
  } catch {
    // A read will report why.
    return undefined;
  }
}

/** Neither a folder nor a link, and reached through none. */
function isFile(absolute: string): boolean {
  try {
    if (dirname(absolute) === absolute) return false;
    const stats = withParent(absolute, (folder, name) => folder.lstat(name));
    return stats !== undefined && !stats.isDirectory() && !stats.isSymbolicLink();
  } catch (error) {
    errorCode(error);
    return false;
  }
}

function entriesIn(folder: HeldFolder): readonly Entry[] {
  return folder
    .list()
    .map((entry): Entry => {
      const kind = entry.isFile()
        ? "file"
        : entry.isDirectory()
          ? "folder"
          : entry.isSymbolicLink()
            ? "link"
            : "other";
      const stats = kind === "file" ? folder.lstat(entry.name) : undefined;
      return { name: entry.name, kind, size: stats?.size ?? 0 };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
