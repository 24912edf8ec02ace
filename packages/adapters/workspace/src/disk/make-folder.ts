/** Makes a folder of this user's alone, and the missing ones above it, durably. */
import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "../file-failure.ts";
import type { Disk } from "./disk.ts";
import { syncFolders } from "./sync-folders.ts";

/** One of Lathe's own, outside the workspace. Throws what the file system throws. */
export function makeFolder(folder: string, disk: Disk): void {
  if (lstatSync(folder, { throwIfNoEntry: false })) return;
  makeFolder(dirname(folder), disk);
  try {
    disk.mkdir(folder, 0o700);
  } catch (error) {
    if (errorCode(error) === "EEXIST") return;
    throw error;
  }
  syncFolders([dirname(folder)], disk);
}
